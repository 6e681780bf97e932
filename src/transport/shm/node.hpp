// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>

#include "transport/shm/room.hpp"

namespace stretto::transport::shm {

/// Of one thread, one for each lane.
using Rooms = std::array<Room*, lanes>;

/// What a rank needs to reach the ranks of its node.
struct Neighbours {
  std::span<Connection* const> connections;  ///< by rank; null: on another node, or myself
  Rooms rooms{};                             ///< of the calling thread
  Bell* bell = nullptr;                      ///< of this process
  const std::byte* segment = nullptr;        ///< of this process
  WaitPolicy policy = {};

  Bytes offset(const std::byte* memory) const { return memory - segment; }
};

}  // namespace stretto::transport::shm

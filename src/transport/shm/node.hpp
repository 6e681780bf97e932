// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>

#include "transport/shm/staging_ring.hpp"

namespace stretto::transport::shm {

/// Of one thread, one for each channel.
using StagingRings = std::array<StagingRing*, channels>;

/// What a rank needs to reach the ranks of its node.
struct Neighbours {
  std::span<Connection* const> connections;  ///< by rank; null: on another node, or myself
  StagingRings staging{};                    ///< of the calling thread
  Doorbell* doorbell = nullptr;              ///< of this process
  const std::byte* segment = nullptr;        ///< of this process
  WaitPolicy policy = {};
  const HeapRange* heap = nullptr;  ///< of this process, once it has one; null: never
  std::uint32_t communicator = 0;   ///< tells those apart that have connections of their own; on this rank alone

  bool in_heap(const std::byte* memory, Bytes bytes) const { return heap && heap->contains(memory, bytes); }
  /// Of what an operation with this key stages, see StagingRing.
  std::uint64_t owner(std::uint64_t key) const { return std::uint64_t{communicator} << 32 | communicator_of(key); }
  Bytes offset(const std::byte* memory) const { return memory - segment; }
};

}  // namespace stretto::transport::shm

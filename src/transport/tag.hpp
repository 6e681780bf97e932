// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace stretto::transport {

/// Which operation a message belongs to, and which of its segments in flight. Messages of different operations may be
/// sent and received in any order.
struct Tag {
  std::uint32_t communicator = 0;  ///< a number that differs between all communicators of a process, equal on all ranks
  std::uint32_t sequence = 0;  ///< counts the operations of the communicator, on all ranks alike; 16 bits of it count
  int channel = 0;

  bool operator==(const Tag&) const = default;
};

/// Sequences of calls count below this, those of persistent calls, which stay in use, above it.
inline constexpr std::uint32_t sequences_of_calls = 1u << 15;

}  // namespace stretto::transport

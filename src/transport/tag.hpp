// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace stretto::transport {

/// Which operation a message belongs to, and which of its segments in flight. Messages of different operations may be
/// sent and received in any order.
struct Tag {
  std::uint32_t communicator = 0;  ///< a number that differs between all communicators of a process, equal on all ranks
  std::uint32_t sequence = 0;      ///< counts the operations of the communicator, on all ranks alike; may wrap around
  int channel = 0;

  bool operator==(const Tag&) const = default;
};

}  // namespace stretto::transport

// SPDX-License-Identifier: BSD-3-Clause
//
// Rounds and volume along the longest chain, for algorithms whose ranks do not all do the same.
#pragma once

#include <algorithm>

#include "stretto/types.hpp"

namespace stretto::patterns {

/// What one rank's rounds and those it waited for amount to.
struct Clock {
  std::int64_t rounds = 0;
  std::int64_t sent = 0;      ///< blocks
  std::int64_t combined = 0;  ///< blocks

  void wait_for(const Clock& other) {
    rounds = std::max(rounds, other.rounds);
    sent = std::max(sent, other.sent);
    combined = std::max(combined, other.combined);
  }
  void pass(Block blocks) {
    ++rounds;
    sent += blocks;
  }
};

/// A round of both ranks in which at most `blocks` go in each direction.
inline void exchange(Clock& one, Clock& other, Block blocks) {
  one.wait_for(other);
  one.pass(blocks);
  other = one;
}

/// A round in which one rank sends to another.
inline void tell(Clock& from, Clock& to, Block blocks) {
  to.wait_for(from);
  to.pass(blocks);
  from.pass(blocks);
}

/// The latest of all.
template <typename Clocks>
Clock latest(const Clocks& clocks) {
  Clock latest;
  for (const Clock& c : clocks) latest.wait_for(c);
  return latest;
}

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// Of two ways to do the same that are timed as they are used.
#pragma once

#include <algorithm>
#include <cstdint>

namespace stretto::transport::shm {

/// An average that falls sooner than it rises: an interrupt is no measurement. 0: nothing has been measured.
inline float updated(float now, float sample) {
  if (now == 0) return sample;
  return now + (sample < now ? (sample - now) * 0.75f : (std::min(sample, 4 * now) - now) / 8);
}

/// When the way that seems slower is tried: often in the beginning, for who reads pages for the first time is slow.
/// `longest`: so many turns are between two probes at the most. It is odd, for messages may alternate.
template <std::uint32_t longest>
class Probes {
  static_assert(longest % 2 == 1);

 public:
  /// Starts another turn.
  void next() { ++turn_; }
  std::uint32_t turn() const { return turn_; }
  /// In the beginning both ways have their turns: in pairs, for messages may alternate, too.
  bool begins() const { return turn_ <= first; }
  bool second_way() const { return turn_ / 2 % 2 == 1; }
  /// Is it time for the other way? Asked once a turn.
  bool due() {
    if (turn_ < due_) return false;
    due_ = turn_ + std::min(turn_ / 2, longest);
    return true;
  }

 private:
  static constexpr std::uint32_t first = 8;
  std::uint32_t turn_ = 0;
  std::uint32_t due_ = first + first / 2;
};

}  // namespace stretto::transport::shm

// SPDX-License-Identifier: BSD-3-Clause
//
// Of two ways to do the same that are timed as they are used.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace stretto::transport::shm {

/// An average that falls sooner than it rises: an interrupt is no measurement. 0: nothing has been measured.
inline float updated(float now, float sample) {
  if (now == 0) return sample;
  return now + (sample < now ? (sample - now) * 0.75f : (std::min(sample, 4 * now) - now) / 8);
}

template <typename Clock = std::chrono::steady_clock, typename Copying>
float seconds_of(Copying copying) {
  const auto begin = Clock::now();
  copying();
  return std::chrono::duration<float>(Clock::now() - begin).count();
}

/// Whose turn it is: that of the better way, and now and then, often in the beginning, that of the other. `longest`: so
/// many turns are between two probes at the most; it is odd, for messages may alternate. A probe has `turns` turns:
/// more than one where a message is only typical behind another that went the same way.
template <std::uint32_t longest, std::uint32_t turns = 1>
class Probes {
  static_assert(longest % 2 == 1 && turns > 0);

 public:
  /// Starts a turn: is it the second way's?
  bool second(bool is_better) {
    ++turn_;
    if (turn_ <= first) {
      probes_ = true;
      return turn_ / 2 % 2 == 1;  // in pairs, for messages may alternate
    }
    if (!probes_) probed_ = !is_better;
    probes_ = turn_ >= due_;
    if (turn_ + 1 >= due_ + turns) due_ = turn_ + std::min(turn_ / 2, longest);
    return probes_ ? probed_ : is_better;
  }
  std::uint32_t turn() const { return turn_; }
  /// Have both ways been tried?
  bool settled() const { return turn_ >= first; }
  /// Is this turn for finding out?
  bool probes() const { return probes_; }

 private:
  static constexpr std::uint32_t first = 8;
  std::uint32_t turn_ = 0;
  std::uint32_t due_ = first + first / 2;
  bool probes_ = false;
  bool probed_ = false;  ///< the way of the probe
};

}  // namespace stretto::transport::shm

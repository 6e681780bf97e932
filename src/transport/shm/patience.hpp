// SPDX-License-Identifier: BSD-3-Clause
//
// Waiting for another process: look again, offer the core, sleep.
#pragma once

#include "support/deadline.hpp"
#include "transport/shm/format.hpp"

namespace stretto::transport::shm {

struct WaitPolicy {
  int looks = 2000;                       ///< before the core is offered to others
  std::chrono::microseconds awake{3000};  ///< time of offering before sleep
};

/// The wait for one thing.
class Patience {
 public:
  Patience(const WaitPolicy& policy, Bell* bell) : policy_(policy), bell_(bell) {}
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience() { begin_anew(); }

  /// To be called after every look that was in vain. `may_sleep`: whoever ends the wait rings the bell.
  void look_again(bool may_sleep) {
    if (++looks_ < policy_.looks) {
      pause();
      return;
    }
    offer(may_sleep);
  }
  /// Something came: the next wait begins.
  void begin_anew() {
    looks_ = offers_ = 0;
    if (announced_) [[unlikely]]
      retract();
  }
  /// Is it time for what need not be done at every look?
  bool at_rest() const { return looks_ >= policy_.looks; }
  /// And for what costs more?
  bool time_for_others() const { return announced_ || offers_ % 8 == 7; }

  /// Between two looks.
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

 private:
  void offer(bool may_sleep);
  void retract();

  WaitPolicy policy_;
  Bell* bell_;
  int looks_ = 0;
  int offers_ = 0;
  bool announced_ = false;   // counted among the sleepers: the next look decides whether to sleep
  std::uint32_t heard_ = 0;  // rings when announced
  Deadline::Clock::time_point since_{};
};

/// Wakes the threads that sleep on `bell`. A sleeper that this call misses wakes up by itself a quarter of a
/// millisecond later: that is cheaper than a fence in every message.
void wake(Bell& bell);

inline void ring_bell(Bell* bell) {
  if (bell->sleepers.load(std::memory_order_relaxed) > 0) [[unlikely]]
    wake(*bell);
}

}  // namespace stretto::transport::shm

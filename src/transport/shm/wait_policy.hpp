// SPDX-License-Identifier: BSD-3-Clause
//
// Waiting for another process: spin, then yield the core, then block.
#pragma once

#include "support/deadline.hpp"
#include "transport/shm/format.hpp"

namespace stretto::transport::shm {

/// When a wait goes on to its next stage. By default that of a rank with a core of its own. A peer that lost its core
/// to another program has it back after some milliseconds. A rank that blocks before leaves its own core idle: the
/// kernel may move the peer there, and then two ranks share a core for a while.
struct WaitPolicy {
  int polls = 2000;                              ///< with the core kept, before it is yielded
  std::chrono::microseconds yield_time{40'000};  ///< of yielding between polls, before the thread blocks
  /// Likewise, after so many yields in a row that were mostly in vain; 0: never. A scheduler that is fair by time used
  /// gives the core back to a thread that yields it as long as another one there, which has worked, is ahead: the two
  /// would have half of the core each.
  unsigned in_vain = 0;
};

/// Of ranks that are to leave their cores to others, but need not share them: to block would leave the core idle.
inline constexpr WaitPolicy yielding_at_once{.polls = 1, .yield_time = std::chrono::microseconds(3000)};
/// Of ranks that share cores.
inline constexpr WaitPolicy sharing_cores{
    .polls = 1, .yield_time = yielding_at_once.yield_time, .in_vain = 200};  // in some 0.1 ms

/// The wait for one thing.
class Backoff {
 public:
  Backoff(const WaitPolicy& policy, Doorbell* doorbell) : policy_(policy), doorbell_(doorbell) {}
  Backoff& operator=(Backoff&&) = delete;
  ~Backoff() { reset(); }

  /// To be called after every poll that found nothing. `may_block`: whoever ends the wait rings the doorbell.
  /// `yielded`: the poll has let go of the core.
  void wait(bool may_block, bool yielded = false) {
    if (polls_ < policy_.polls && ++polls_ < policy_.polls) {
      pause();
      return;
    }
    yield_or_block(may_block, yielded);
  }
  /// Something came: the next wait begins.
  void reset() {
    polls_ = yields_ = 0;
    in_vain_ = false;
    if (announced_) [[unlikely]]
      retract();
  }
  /// Past spinning: is it time for what need not be done at every poll?
  bool yielding() const { return polls_ >= policy_.polls; }
  /// And for what costs more?
  bool time_to_attend() const { return announced_ || yields_ % 8 == 7; }

  /// Between two polls: leaves the core's resources to its other hardware thread.
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

 private:
  void yield_or_block(bool may_block, bool yielded);
  bool yields_in_vain();
  void retract();

  WaitPolicy policy_;
  Doorbell* doorbell_;
  int polls_ = 0;
  unsigned yields_ = 0;
  bool in_vain_ = false;
  bool announced_ = false;   // counted among the sleepers: blocks if the next poll finds nothing either
  std::uint32_t heard_ = 0;  // rings when announced
  Deadline::Clock::time_point since_{};
  unsigned useful_ = 0;  ///< yields until it was last seen that others had run
  long switches_ = 0;    ///< of this thread, when last looked at
};

/// Wakes the threads that sleep on `doorbell`.
void wake(Doorbell& doorbell);

/// To be called after each post. Without a fence the post may become visible after `sleepers` is read: then this call
/// misses a thread that is just going to sleep. That thread wakes up by itself a quarter of a millisecond later, which
/// happens so rarely that it is cheaper than a fence in every message.
inline void ring(Doorbell* doorbell) {
  if (doorbell->sleepers.load(std::memory_order_relaxed) > 0) [[unlikely]]
    wake(*doorbell);
}

}  // namespace stretto::transport::shm

// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/patience.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace stretto::transport::shm {
namespace {

constexpr long longest_sleep = 250'000;  // ns; the messages of others may need this process

void* futex_of(Bell& bell) {
  static_assert(sizeof bell.rings == sizeof(std::uint32_t));
  return &bell.rings;
}

}  // namespace

void wake(Bell& bell) {
  bell.rings.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, futex_of(bell), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Patience::offer(bool may_sleep) {
  const auto now = Deadline::Clock::now();
  if (offers_++ == 0) since_ = now;
  if (!may_sleep || !bell_ || now - since_ < policy_.awake) {
    sched_yield();
    return;
  }
  if (!announced_) {
    announced_ = true;
    heard_ = bell_->rings.load(std::memory_order_acquire);
    bell_->sleepers.fetch_add(1, std::memory_order_seq_cst);
    return;  // one more look before the sleep
  }
  const timespec most{0, longest_sleep};
  syscall(SYS_futex, futex_of(*bell_), FUTEX_WAIT, heard_, &most, nullptr, 0);
  retract();
}

void Patience::retract() {
  bell_->sleepers.fetch_sub(1, std::memory_order_relaxed);
  announced_ = false;
}

}  // namespace stretto::transport::shm

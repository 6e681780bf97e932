// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/wait_policy.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <utility>

namespace stretto::transport::shm {
namespace {

constexpr long longest_sleep = 250'000;  // ns; a ring may be missed, and the MPI may need this process
static_assert(sizeof Doorbell::rings == sizeof(std::uint32_t));  // a futex

long switches_of_thread() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw + used.ru_nivcsw;
}

}  // namespace

void wake(Doorbell& doorbell) {
  doorbell.rings.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &doorbell.rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Backoff::yield_or_block(bool may_block, bool yielded) {
  const auto now = Deadline::Clock::now();
  if (yields_++ == 0) since_ = now;
  const bool in_vain = yields_in_vain();
  if (!may_block || !doorbell_ || (now - since_ < policy_.yield_time && !in_vain)) {
    if (!yielded) sched_yield();
    return;
  }
  if (!announced_) {
    announced_ = true;
    heard_ = doorbell_->rings.load(std::memory_order_acquire);
    doorbell_->sleepers.fetch_add(1, std::memory_order_seq_cst);
    return;  // blocks after one more poll, which sees what was posted before the announcement
  }
  const timespec most{0, longest_sleep};
  syscall(SYS_futex, &doorbell_->rings, FUTEX_WAIT, heard_, &most, nullptr, 0);
  retract();
}

/// Has hardly anybody else run on this core lately? The count of switches is looked at seldom: it takes as long as a
/// yield. The answer stays until something comes, for sleeping switches as well.
bool Backoff::yields_in_vain() {
  constexpr unsigned looks_every = 32;
  if (policy_.in_vain == 0 || in_vain_ || yields_ < looks_every) return in_vain_;
  if (yields_ % looks_every == 0) {
    const long before = std::exchange(switches_, switches_of_thread());
    const bool counts = switches_ > 0;  // there are systems that do not
    if (yields_ == looks_every || switches_ - before > looks_every / 4 || !counts) useful_ = yields_;
  }
  return in_vain_ = yields_ - useful_ >= policy_.in_vain;
}

void Backoff::retract() {
  doorbell_->sleepers.fetch_sub(1, std::memory_order_relaxed);
  announced_ = false;
}

}  // namespace stretto::transport::shm

// SPDX-License-Identifier: BSD-3-Clause
//
// How ranks wait for each other, and what for: cores and deadlines.
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "support/cores.hpp"
#include "support/test.hpp"
#include "transport/shm/wait_policy.hpp"

namespace stretto::waiting_test {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using transport::shm::Backoff;
using transport::shm::Doorbell;
using transport::shm::ring;

/// False: it did not come true in ten seconds.
template <typename Condition>
bool comes_true(Condition condition) {
  const Deadline deadline = Deadline::in(seconds(10));
  while (!condition() && !deadline.expired()) std::this_thread::yield();
  return condition();
}

TEST(nobody_sleeps_before_all_looks_are_done) {
  Doorbell doorbell;
  Backoff backoff({.polls = 5, .yield_time = seconds(100)}, &doorbell);
  for (int i = 0; i < 4; ++i) {
    CHECK(!backoff.yielding());
    backoff.wait(true);
  }
  CHECK(!backoff.yielding());
  for (int i = 0; i < 100; ++i) backoff.wait(true);
  CHECK(backoff.yielding());
  CHECK_EQ(doorbell.sleepers.load(), 0);
  backoff.reset();
  CHECK(!backoff.yielding());
}

TEST(who_yields_in_vain_sleeps_before_its_time) {
  Doorbell doorbell;
  Backoff backoff({.polls = 1, .yield_time = seconds(100), .in_vain = 100}, &doorbell);
  for (int i = 0; i < 131; ++i) backoff.wait(true);
  CHECK_EQ(doorbell.sleepers.load(), 0);                // too soon to say: the first 32 are not known
  const Deadline deadline = Deadline::in(seconds(30));  // others may run here
  while (doorbell.sleepers.load() == 0 && !deadline.expired()) backoff.wait(true);
  CHECK_EQ(doorbell.sleepers.load(), 1);
  backoff.reset();
  CHECK_EQ(doorbell.sleepers.load(), 0);
  for (int i = 0; i < 131; ++i) backoff.wait(true);
  CHECK_EQ(doorbell.sleepers.load(), 0);
}

TEST(a_sleeper_says_so_and_looks_once_more) {
  Doorbell doorbell;
  {
    Backoff backoff({.polls = 1, .yield_time = microseconds(0)}, &doorbell);
    backoff.wait(false);  // nobody would ring
    CHECK_EQ(doorbell.sleepers.load(), 0);
    backoff.wait(true);
    CHECK_EQ(doorbell.sleepers.load(), 1);
    backoff.wait(true);  // sleeps, and wakes up by itself
    CHECK_EQ(doorbell.sleepers.load(), 0);
    backoff.wait(true);
    CHECK_EQ(doorbell.sleepers.load(), 1);
    backoff.reset();
    CHECK_EQ(doorbell.sleepers.load(), 0);
    backoff.wait(true);
    CHECK_EQ(doorbell.sleepers.load(), 1);
  }
  CHECK_EQ(doorbell.sleepers.load(), 0);
}

TEST(a_bell_that_rang_between_the_last_look_and_sleep) {
  Doorbell doorbell;
  Backoff backoff({.polls = 1, .yield_time = microseconds(0)}, &doorbell);
  auto shortest = Deadline::Clock::duration::max();
  for (int i = 0; i < 20; ++i) {
    backoff.wait(true);
    ring(&doorbell);
    const auto begin = Deadline::Clock::now();
    backoff.wait(true);
    shortest = std::min(shortest, Deadline::Clock::now() - begin);
    backoff.reset();
  }
  CHECK(shortest < microseconds(200));  // a whole sleep takes 250
}

TEST(a_bell_wakes_those_who_sleep) {
  Doorbell doorbell;
  ring(&doorbell);
  CHECK_EQ(doorbell.rings.load(), 0);  // nobody to wake
  long outcome[2] = {-1, -1};
  std::thread sleepers[2];
  for (int i = 0; i < 2; ++i)
    sleepers[i] = std::thread([&, i] {
      const timespec long_time{20, 0};
      doorbell.sleepers.fetch_add(1);
      while (doorbell.rings.load() == 0)
        outcome[i] = syscall(SYS_futex, &doorbell.rings, FUTEX_WAIT, 0, &long_time, nullptr, 0);
      doorbell.sleepers.fetch_sub(1);
    });
  CHECK(comes_true([&] { return doorbell.sleepers == 2; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto begin = Deadline::Clock::now();
  ring(&doorbell);
  for (std::thread& s : sleepers) s.join();
  CHECK_EQ(outcome[0], 0);
  CHECK_EQ(outcome[1], 0);
  CHECK(Deadline::Clock::now() - begin < seconds(10));
  CHECK_EQ(doorbell.rings.load(), 1);
}

TEST(whoever_waits_long_is_found_asleep) {
  Doorbell doorbell;
  std::atomic<bool> come{false};
  std::thread waits([&] {
    Backoff backoff({.polls = 1, .yield_time = microseconds(100)}, &doorbell);
    while (!come) backoff.wait(true);
  });
  CHECK(comes_true([&] { return doorbell.sleepers == 1; }));
  come = true;
  ring(&doorbell);
  waits.join();
  CHECK_EQ(doorbell.sleepers.load(), 0);
}

TEST(deadlines) {
  CHECK(!Deadline().expired());
  CHECK(!Deadline().at());
  const Deadline past = Deadline::in(seconds(0));
  CHECK(past.expired());
  const Deadline far = Deadline::in(seconds(100));
  CHECK(!far.expired());
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(*far.renewed().at() - *far.at() >= std::chrono::milliseconds(2));
  CHECK(!Deadline().renewed().at());
}

TEST(cores) {
  const CoreSet before = allowed_cores();
  CHECK(before.any());
  cpu_set_t all, one;
  CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CHECK_EQ(static_cast<int>(before.count()), CPU_COUNT(&all));
  CoreSet sum;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const CoreSet alone = allowed_cores();
    CHECK_EQ(alone.count(), 1u);
    CHECK(alone[static_cast<std::size_t>(core)]);
    sum |= alone;
  }
  sched_setaffinity(0, sizeof all, &all);
  CHECK(sum == before);
  CHECK(core_quota() >= 1);
}

}  // namespace
}  // namespace stretto::waiting_test

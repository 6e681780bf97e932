// SPDX-License-Identifier: BSD-3-Clause
#include "execute/observer.hpp"

#include <thread>

#include "support/test.hpp"

namespace observer_test {
namespace {

using namespace stretto;
using namespace stretto::execute;

constexpr Nanoseconds moment = 2'000'000;

void nap() { std::this_thread::sleep_for(std::chrono::nanoseconds(moment)); }

TEST(a_timeline_keeps_its_last_events) {
  Timeline timeline(3);
  for (Bytes i = 0; i < 2; ++i) timeline.add({.bytes = i});
  CHECK_EQ(timeline.dropped(), 0);
  CHECK_EQ(timeline.in_order().size(), 2);
  for (Bytes i = 2; i < 8; ++i) timeline.add({.bytes = i});
  CHECK_EQ(timeline.dropped(), 5);
  const auto events = timeline.in_order();
  CHECK_EQ(events.size(), 3);
  for (std::size_t i = 0; i < events.size(); ++i) CHECK_EQ(events[i].bytes, static_cast<Bytes>(i) + 5);
}

TEST(waits_count_that_end_with_the_first_sign_of_a_rank) {
  Observer o;
  o.look_closely();
  o.active(1, true);  // came at once
  o.idle();
  nap();
  o.active(1, true);  // more of it: data on their way
  CHECK_EQ(o.waited(), 0);
  o.idle();
  nap();
  o.active(2, true);
  const Nanoseconds first = o.waited();
  CHECK(first >= moment);
  o.active(3, false);  // sent without a wait: no sign of rank 3
  o.idle();
  nap();
  o.active(3, false);  // made room
  CHECK(o.waited() >= first + moment);
  const Nanoseconds second = o.waited();
  o.idle();
  nap();
  o.active(no_rank, false);
  CHECK_EQ(o.waited(), second);
  CHECK_EQ(o.waited_before_yield(), second);
}

TEST(long_waits_are_seen_without_looking_closely) {
  Observer o;
  o.forget();
  CHECK(!o.touched());
  o.yields();
  nap();
  o.resumes();
  CHECK(o.touched());
  CHECK(o.yield_began() > 0);
  CHECK(o.waited() >= moment);
  CHECK_EQ(o.waited_before_yield(), 0);
  o.forget();
  CHECK(!o.touched());
  CHECK_EQ(o.waited(), 0);
}

TEST(a_long_wait_is_cut_where_it_became_long) {
  Observer o;
  o.look_closely();
  o.idle();
  nap();
  o.yields();
  nap();
  o.active(5, true);
  o.resumes();
  CHECK(o.waited() >= 2 * moment);
  CHECK(o.waited_before_yield() >= moment);
  CHECK(o.waited() - o.waited_before_yield() >= moment);
}

TEST(who_looks_away_keeps_long_waits_only) {
  Observer o;
  o.look_closely();
  o.idle();
  nap();
  o.active(5, true);
  o.look_away();
  CHECK(!o.touched() && !o.closely());
  CHECK_EQ(o.waited(), 0);
  o.look_closely();
  o.idle();
  o.yields();
  nap();
  o.active(5, true);
  o.resumes();
  o.look_away();
  CHECK(o.touched() && !o.closely());
  CHECK(o.waited() - o.waited_before_yield() >= moment);
}

TEST(a_timeline_shows_waits_and_what_was_done) {
  const std::vector<Rank> numbers{7, 8, 9};
  Timeline timeline(8);
  Observer o;
  o.timeline = &timeline;
  o.algorithm = 4;
  o.numbers = numbers;
  o.look_closely();
  o.idle();
  nap();
  const Nanoseconds begin = o.active(2, true);
  o.done(begin, Activity::receive, 2, 100, 0);
  const auto events = timeline.in_order();
  CHECK_EQ(events.size(), 2);
  CHECK_EQ(events[0].activity, Activity::wait);
  CHECK(events[0].end - events[0].begin >= moment);
  CHECK_EQ(events[1].begin, events[0].end);
  CHECK_EQ(events[1].peer, 9);  // as the world calls it
  CHECK_EQ(events[1].bytes, 100);
  CHECK_EQ(events[1].round, 1);
  CHECK_EQ(events[1].algorithm, 4);
}

}  // namespace
}  // namespace observer_test

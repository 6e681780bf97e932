// SPDX-License-Identifier: BSD-3-Clause
//
// What ranks make of the times of a round of calls, by times that are made up: of calls for which the program waits
// late, computes in between, or does not wait at all.
#include <algorithm>
#include <random>

#include "learn/comparison.hpp"
#include "learn/round.hpp"
#include "support/test.hpp"

namespace stretto::learn::round_test {
namespace {

/// What ranks that have these numbers hear.
std::vector<Moment> smallest(const std::vector<std::vector<Moment>>& numbers) {
  std::vector<Moment> least = numbers[0];
  for (const auto& one : numbers)
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], one[i]);
  return least;
}

bool is_unknown(const Span& span) { return span.begin == unknown && span.end == unknown; }

TEST(a_call_that_is_waited_for_at_once_takes_as_long_as_a_blocking_one) {
  const Span span = span_of({.posted = 100, .returned = 130, .waited = 130, .ended = 180});
  CHECK_EQ(span.end - span.begin, Moment{80});
}

TEST(what_the_program_computes_in_between_does_not_count) {
  const Span hidden = span_of({.posted = 100, .returned = 130, .waited = 5000, .ended = 900});
  CHECK_EQ(hidden.end - hidden.begin, Moment{30});
  const Span left = span_of({.posted = 100, .returned = 130, .waited = 5000, .ended = 5020});
  CHECK_EQ(left.end - left.begin, Moment{50});
}

TEST(a_call_that_queued_counts_from_when_it_could_begin) {
  const Span span = span_of({.posted = 400, .returned = 410, .waited = 200, .ended = 450});
  CHECK_EQ(span.begin, Moment{400});
  CHECK_EQ(span.end, Moment{450});
}

TEST(a_call_that_nobody_waited_for_or_that_is_not_over_is_unknown) {
  CHECK(is_unknown(span_of({.posted = 100, .returned = 130, .waited = 0, .ended = 180})));
  CHECK(is_unknown(span_of({.posted = 100, .returned = 130, .waited = 150, .ended = 0})));
  CHECK(is_unknown(span_of({})));
}

TEST(nobodys_late_arrival_counts) {
  Round early, late;
  early.begin(1000);  // two nodes, whose clocks begin elsewhere
  late.begin(70000);
  early.set(early.add(), {1100, 1550});
  late.set(late.add(), {70500, 70540});
  const auto outcome = Round::conclude(smallest({early.numbers(30), late.numbers(20)}), 1);
  CHECK_EQ(outcome.seconds.size(), std::size_t{1});
  CHECK(std::abs(outcome.seconds[0] - 50e-9) < 1e-12);
  CHECK(std::abs(outcome.overhead - 20e-9) < 1e-12);
  CHECK_EQ(outcome.late, std::size_t{0});
}

TEST(a_turn_takes_as_long_as_its_calls_on_average) {
  Round leaf, root;  // the leaf runs ahead: nobody waits for it in the second call
  leaf.begin(0);
  root.begin(0);
  for (const Span span : {Span{0, 10}, {10, 20}, {400, 410}, {410, 420}}) leaf.set(leaf.add(), span);
  for (const Span span : {Span{0, 150}, {150, 220}, {400, 500}, {500, 550}}) root.set(root.add(), span);
  const auto outcome = Round::conclude(smallest({leaf.numbers(0), root.numbers(0)}), 2);
  CHECK_EQ(outcome.seconds.size(), std::size_t{2});
  CHECK(std::abs(outcome.seconds[0] - 110e-9) < 1e-12);
  CHECK(std::abs(outcome.seconds[1] - 75e-9) < 1e-12);
}

TEST(what_one_rank_cannot_tell_nobody_knows) {
  Round one, other;
  for (Round* round : {&one, &other}) {
    round->begin(0);
    for (int i = 0; i < 4; ++i) round->add();
  }
  for (std::size_t i = 0; i < 4; ++i) one.set(i, {10, 20});
  other.set(0, {10, 20});
  other.set(1, {10, 30});  // the last two are under way
  const auto outcome = Round::conclude(smallest({one.numbers(0), other.numbers(0)}), 1);
  CHECK(outcome.seconds[1] > 0);
  CHECK(outcome.seconds[2] == 0);
  CHECK_EQ(outcome.late, std::size_t{2});
}

/// A program in which each rank computes at random before and between the halves of its calls, and keeps some of them
/// under way for long: whatever it does, ranks decide alike.
TEST(ranks_whose_calls_end_late_decide_alike) {
  constexpr std::size_t ranks = 3;
  const double seconds[] = {20e-6, 9e-6, 30e-6};
  std::mt19937 random(7);
  const auto up_to = [&](int most) { return static_cast<Moment>(random() % static_cast<unsigned>(most)); };
  std::vector<Comparison> comparisons(ranks, Comparison(std::size(seconds), 0, false));
  std::vector<Round> rounds(ranks);
  for (Round& round : rounds) round.begin(0);
  Moment now = 1;
  for (int call = 0; call < 20000; ++call) {
    if (comparisons[0].quiet > 0) {
      for (Comparison& each : comparisons) --each.quiet;
      continue;
    }
    bool last = false;
    Moment begin = 0;
    std::vector<Watch> watches(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto turn = comparisons[r].next_turn();
      last = turn.last;
      Watch& watch = watches[r];
      watch.posted = now + up_to(40000);
      watch.returned = watch.posted + 100;
      watch.waited = watch.returned + (up_to(3) == 0 ? up_to(3000) : 0);
      begin = std::max(begin, watch.waited);
      rounds[r].add();
      watch.ended = static_cast<Moment>(1e9 * seconds[turn.candidate]);
    }
    now = begin + 50000;
    for (std::size_t r = 0; r < ranks; ++r) {
      watches[r].ended += begin;
      const bool told = up_to(10) > 0;  // else it is still under way when times are told
      if (told) rounds[r].set(rounds[r].numbers(0).size() / 2 - 2, span_of(watches[r]));
    }
    if (!last) continue;
    std::vector<std::vector<Moment>> numbers;
    for (const Round& round : rounds) numbers.push_back(round.numbers(2000));
    const auto outcome = Round::conclude(smallest(numbers), 1);
    for (std::size_t r = 0; r < ranks; ++r) {
      comparisons[r].wait(3);
      comparisons[r].conclude(outcome.seconds, outcome.overhead);
      rounds[r].begin(0);
      CHECK_EQ(comparisons[r].quiet, comparisons[0].quiet);
      CHECK_EQ(comparisons[r].current(), comparisons[0].current());
    }
  }
  CHECK_EQ(comparisons[0].current(), std::size_t{1});
  CHECK(comparisons[0].settled());
}

TEST(calls_of_which_nothing_can_be_told_are_tried_ever_more_seldom) {
  Comparison comparison(4, 0, false);
  int rounds = 0;
  for (std::uint32_t call = 0; call < 100000; ++call) {
    if (comparison.quiet > 0) {
      --comparison.quiet;
    } else if (comparison.next_turn().last) {
      comparison.conclude(std::vector<double>(2, 0), 1e-6);
      ++rounds;
    }
  }
  CHECK(rounds >= 5);
  CHECK(rounds <= 12);
}

}  // namespace
}  // namespace stretto::learn::round_test

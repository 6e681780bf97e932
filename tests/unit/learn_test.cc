// SPDX-License-Identifier: BSD-3-Clause
//
// Comparisons of candidates by times that are made up: what is found, what finding it costs, and when it is doubted.
#include <array>
#include <functional>
#include <memory>
#include <random>

#include "learn/comparison.hpp"
#include "support/test.hpp"

namespace stretto::learn::learn_test {
namespace {

/// The time of candidate k in call i.
using Times = std::function<double(std::size_t k, std::uint64_t i)>;

struct Played {
  double seconds = 0;         ///< of all calls, and of what was told
  double told = 0;            ///< of that
  std::uint64_t settled = 0;  ///< after so many calls; 0: never
  std::size_t current = 0;
  int reopened = 0;
  std::vector<std::size_t> calls;  ///< of each candidate
};

constexpr double telling = 2e-6;
constexpr std::uint32_t turns[] = {1, 8};  // calls in a row

/// A program of `calls` calls, of which turns have up to `in_a_row`; candidate 0 is the native function.
Played play_in_turns(std::uint32_t in_a_row, std::size_t candidates, std::uint64_t calls, const Times& times,
                     bool known = false, std::size_t first = 0) {
  Limits limits;
  limits.in_a_row = in_a_row;
  Comparison comparison(candidates, first, known, limits);
  Comparison::Turn turn;
  Played played;
  played.calls.resize(candidates);
  std::vector<double> round;
  double sum = 0;
  std::uint32_t left = 0;  // of the turn
  for (std::uint64_t i = 0; i < calls; ++i) {
    const bool timed = comparison.quiet == 0;
    if (timed && left == 0) {
      turn = comparison.next_turn();
      CHECK_EQ(turn.first, round.empty());
      left = turn.calls;
      sum = 0;
    }
    if (!timed) --comparison.quiet;
    const std::size_t k = timed ? turn.candidate : comparison.current();
    const double seconds = times(k, i);
    played.seconds += seconds;
    ++played.calls[k];
    if (!timed) continue;
    sum += seconds;
    if (--left > 0) continue;
    round.push_back(sum / turn.calls);
    if (!turn.last) continue;
    if (comparison.conclude(round, telling).event == Event::reopened) ++played.reopened;
    round.clear();
    played.seconds += telling;
    played.told += telling;
    if (comparison.settled() && played.settled == 0) played.settled = i + 1;
  }
  played.current = comparison.current();
  return played;
}

Played play(std::size_t candidates, std::uint64_t calls, const Times& times, bool known = false,
            std::size_t first = 0) {
  return play_in_turns(1, candidates, calls, times, known, first);
}

/// Times that scatter by `spread` (a factor, a standard deviation of its logarithm), with an outlier now and then.
Times noisy(std::vector<double> seconds, double spread, unsigned seed, double outlier = 0) {
  auto random = std::make_shared<std::mt19937>(seed);
  return [=](std::size_t k, std::uint64_t) {
    std::lognormal_distribution<double> factor(0, spread);
    std::uniform_real_distribution<double> chance(0, 1);
    return seconds[k] * factor(*random) + (chance(*random) < outlier ? 100e-6 : 0);
  };
}

TEST(the_fastest_is_found) {
  for (const std::uint32_t in_a_row : turns)
    for (const double unit : {1e-6, 20e-6, 5e-3})
      for (unsigned seed = 0; seed < 8; ++seed) {
        const std::vector<double> seconds{unit, 1.4 * unit, 0.7 * unit, 0.95 * unit, 2.5 * unit};
        const Played p = play_in_turns(in_a_row, 5, 20000, noisy(seconds, 0.1, seed));
        CHECK_EQ(p.current, std::size_t{2});
        CHECK(p.settled > 0);
      }
}

TEST(trying_costs_no_more_than_it_may) {
  constexpr std::uint64_t calls = 10000;
  for (const std::uint32_t in_a_row : turns)
    for (const double unit : {1e-6, 20e-6, 5e-3}) {
      // The native function is best: all that is tried is lost.
      const std::vector<double> seconds{unit, 1.05 * unit, 1.2 * unit, 3 * unit, 10 * unit, 1.02 * unit};
      const Played p = play_in_turns(in_a_row, seconds.size(), calls, noisy(seconds, 0, 1));
      CHECK_EQ(p.current, std::size_t{0});
      CHECK(p.seconds < 1.02 * unit * static_cast<double>(calls));
    }
}

TEST(at_no_moment_more_than_a_twentieth_is_lost) {
  const double unit = 50e-6;
  const std::vector<double> seconds{unit, 4 * unit, 6 * unit, 1.3 * unit, 3 * unit};
  for (const std::uint32_t in_a_row : turns)
    for (std::uint64_t calls = 1; calls < 6000; calls += calls < 400 ? 1 : 97) {
      const Played p = play_in_turns(in_a_row, seconds.size(), calls, noisy(seconds, 0, 1));
      CHECK(p.seconds <= 1.05 * unit * static_cast<double>(calls) + telling);
    }
}

TEST(one_bad_candidate_costs_less_than_a_twentieth) {
  for (const std::uint32_t in_a_row : turns) {
    const double unit = 1e-3;
    for (std::uint64_t calls = 1; calls < 2000; ++calls) {
      const Played p = play_in_turns(in_a_row, 3, calls, noisy({unit, 12 * unit, 1.1 * unit}, 0, 1));
      CHECK(p.seconds <= 1.05 * unit * static_cast<double>(calls) + telling);
    }
  }
}

TEST(what_rules_choose_is_soon_compared_with_the_native_function) {
  const double unit = 1e-3;
  const Times times = noisy({unit, 3 * unit, 2 * unit, 0.9 * unit}, 0.05, 1);
  const Played soon = play(4, 100, times, false, 2);
  CHECK_EQ(soon.current, std::size_t{0});
  CHECK_EQ(soon.calls[1] + soon.calls[3], std::size_t{0});  // which may be slower, have to wait
  CHECK(soon.calls[2] <= 24);
  CHECK_EQ(play(4, 4000, times, false, 2).current, std::size_t{3});
}

TEST(who_is_clearly_behind_is_given_up_in_its_first_calls) {
  const double unit = 1e-3;
  const Played p = play(3, 4000, noisy({unit, 8 * unit, 0.8 * unit}, 0.02, 1));
  CHECK(p.calls[1] <= 2);
  CHECK_EQ(p.current, std::size_t{2});
}

TEST(who_is_very_far_behind_counts_in_full) {
  const double unit = 15e-6;
  constexpr std::uint64_t calls = 20000;
  const Played p = play(5, calls, noisy({unit, 200 * unit, 200 * unit, 200 * unit, 200 * unit}, 0, 1));
  CHECK(p.seconds < 1.045 * unit * static_cast<double>(calls));
}

/// A candidate whose call takes so long alone, and so long behind another one of its own.
Times in_rows(double unit, std::vector<std::array<double, 2>> factors) {
  auto last = std::make_shared<std::size_t>(0);
  return [=](std::size_t k, std::uint64_t) { return unit * factors[k][std::exchange(*last, k) == k ? 1 : 0]; };
}

TEST(who_is_faster_in_a_row_is_found) {
  const auto times = [] { return in_rows(10e-6, {{1, 1}, {1.2, 0.7}}); };
  CHECK_EQ(play_in_turns(1, 2, 20000, times()).current, std::size_t{0});
  CHECK_EQ(play_in_turns(8, 2, 20000, times()).current, std::size_t{1});
}

TEST(who_is_slower_in_a_row_is_given_up) {
  const Played p = play_in_turns(8, 3, 100000, in_rows(50e-6, {{1, 1}, {1.3, 1.7}, {1.1, 1.1}}));
  CHECK_EQ(p.current, std::size_t{0});
  CHECK(p.settled > 0);
}

TEST(a_look_knows_what_calls_in_a_row_take) {
  const Played p = play_in_turns(8, 2, 200000, in_rows(10e-6, {{2, 1}, {2.4, 1.2}}));
  CHECK_EQ(p.current, std::size_t{0});
  CHECK_EQ(p.reopened, 0);
}

TEST(calls_that_take_long_are_not_made_in_a_row) {
  Limits limits;
  limits.in_a_row = 8;
  for (const double unit : {limits.longest_turn / 16, limits.longest_turn / 4}) {
    Comparison comparison(2, 0, false, limits);
    std::uint32_t longest = 0;
    for (int i = 0; i < 10; ++i) {
      comparison.quiet = 0;
      Comparison::Turn turn;
      std::vector<double> round;
      do {
        turn = comparison.next_turn();
        longest = std::max(longest, turn.calls);
        round.push_back(unit);
      } while (!turn.last);
      comparison.conclude(round, telling);
    }
    CHECK_EQ(longest, 8 * unit <= limits.longest_turn ? 8u : 1u);
  }
}

/// A round whose odd turns take as long as the first one, its even ones as the second.
void play_round(Comparison& comparison, std::array<double, 2> seconds, double overhead) {
  comparison.quiet = 0;
  std::vector<double> round;
  for (bool last = false; !last; round.push_back(seconds[round.size() % 2])) last = comparison.next_turn().last;
  comparison.conclude(round, overhead);
}

TEST(the_first_of_two_calls_may_be_the_slower_one) {
  Comparison comparison(2, 0, false);
  for (int round = 0; round < 10; ++round) play_round(comparison, {1.8e-3, 1e-3}, telling);
  CHECK_EQ(comparison.current(), std::size_t{0});
}

TEST(what_a_candidate_is_prepared_for_counts) {
  Comparison comparison(2, 0, false);
  constexpr double preparing = 20e-3;
  for (int round = 0; round < 5; ++round) play_round(comparison, {1e-3, 1e-3}, round == 0 ? preparing : telling);
  CHECK(comparison.spent() > preparing);
}

TEST(a_first_call_that_finds_nothing_in_the_cache_is_forgiven) {
  std::vector<int> made(2, 0);
  const Played p = play(2, 20000, [&](std::size_t k, std::uint64_t) {
    return (k == 1 ? 0.6e-6 : 1e-6) + (k == 1 && made[k]++ < 2 ? 8e-6 : 0);
  });
  CHECK_EQ(p.current, std::size_t{1});
}

TEST(outliers_mislead_nobody) {
  for (const std::uint32_t in_a_row : turns) {
    for (unsigned seed = 0; seed < 8; ++seed) {
      const Played p = play_in_turns(in_a_row, 3, 200000, noisy({1e-6, 0.8e-6, 1.2e-6}, 0.1, seed, 0.02));
      CHECK_EQ(p.current, std::size_t{1});
    }
  }
}

TEST(ties_are_left_as_they_are) {
  for (const std::uint32_t in_a_row : turns) {
    int changed = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
      const Played p = play_in_turns(in_a_row, 4, 50000, noisy({10e-6, 10e-6, 10e-6, 10e-6}, 0.1, seed));
      CHECK(p.settled > 0);
      if (p.current != 0) ++changed;
    }
    CHECK(changed <= 8);
  }
}

TEST(a_choice_that_became_wrong_is_opened_again) {
  for (const std::uint32_t in_a_row : turns) {
    const double unit = 20e-6;
    const Played p = play_in_turns(in_a_row, 3, 200000, [&](std::size_t k, std::uint64_t i) {
      const double before[] = {unit, 0.6 * unit, 1.2 * unit}, after[] = {unit, 2.5 * unit, 0.7 * unit};
      return i < 30000 ? before[k] : after[k];
    });
    CHECK_EQ(p.current, std::size_t{2});
    CHECK(p.reopened >= 1);
  }
}

TEST(who_is_very_far_behind_is_so_when_all_are_compared_anew) {
  for (const std::uint32_t in_a_row : turns) {
    const double unit = 20e-6;
    std::uint64_t far = 0;
    const Played p = play_in_turns(
        in_a_row, 3, 900000,
        [&](std::size_t k, std::uint64_t i) {
          const double before[] = {200 * unit, 0.6 * unit, unit}, after[] = {200 * unit, 2.5 * unit, unit};
          if (k == 0 && i >= 200000) ++far;
          return i < 200000 ? before[k] : after[k];
        },
        false, 1);
    CHECK_EQ(p.current, std::size_t{2});
    CHECK(p.reopened >= 1);
    CHECK(far <= 8);
  }
}

TEST(one_disturbance_opens_nothing) {
  for (const std::uint32_t in_a_row : turns) {
    const Played p = play_in_turns(in_a_row, 3, 100000, [&](std::size_t k, std::uint64_t i) {
      const double seconds[] = {20e-6, 12e-6, 30e-6};
      return seconds[k] * (i > 12000 && i < 13500 ? 3 : 1);
    });
    CHECK_EQ(p.reopened, 0);
    CHECK_EQ(p.current, std::size_t{1});
  }
}

TEST(what_is_known_is_looked_at_seldom) {
  const Played p = play(4, 100000, noisy({10e-6, 14e-6, 12e-6, 30e-6}, 0.05, 3), true);
  CHECK_EQ(p.current, std::size_t{0});
  CHECK_EQ(p.reopened, 0);
  CHECK(p.calls[0] > 99950);
  CHECK(p.calls[0] < 100000);
}

TEST(what_is_known_and_wrong_is_found_out) {
  for (const std::uint32_t in_a_row : turns) {
    const Played p = play_in_turns(in_a_row, 3, 200000, noisy({10e-6, 30e-6, 6e-6}, 0.05, 3), true);
    CHECK_EQ(p.current, std::size_t{2});
  }
}

TEST(times_that_nobody_can_tell_count_for_nothing) {
  Comparison comparison(2, 0, false);
  for (int i = 0; i < 1000; ++i) {
    comparison.quiet = 0;
    const auto turn = comparison.next_turn();
    if (!turn.last) continue;
    CHECK(comparison.conclude(std::vector<double>(2, 0), telling).event == Event::none);
  }
  CHECK_EQ(comparison.pairs(), std::size_t{0});
  CHECK(!comparison.settled());
}

TEST(more_candidates_are_compared_with_what_was_found) {
  const std::vector<double> seconds{10e-6, 8e-6, 12e-6, 7e-6, 9e-6};
  Comparison comparison(3, 0, false);
  const auto settle = [&] {
    std::vector<double> round;
    for (int calls = 0; !comparison.settled() && calls < 100'000; ++calls) {
      comparison.quiet = 0;
      const auto turn = comparison.next_turn();
      round.push_back(seconds[turn.candidate]);
      if (!turn.last) continue;
      comparison.conclude(round, telling);
      round.clear();
    }
  };
  settle();
  CHECK_EQ(comparison.current(), std::size_t{1});
  comparison.add(2);
  CHECK(!comparison.settled());
  CHECK(comparison.quiet < 100'000);  // not a look at a settled choice
  settle();
  CHECK(comparison.settled());
  CHECK_EQ(comparison.current(), std::size_t{3});
  CHECK(comparison.timed(4) > 0);
}

TEST(one_candidate_needs_no_comparison) {
  const Comparison comparison(1, 0, false);
  CHECK(comparison.quiet > 1000000);
}

TEST(what_another_communicator_found_is_taken_over) {
  Comparison comparison(3, 0, false);
  comparison.take_over(2);
  CHECK_EQ(comparison.current(), std::size_t{2});
  CHECK(comparison.settled());
  CHECK(comparison.found());
  CHECK(comparison.quiet > 1000);
}

}  // namespace
}  // namespace stretto::learn::learn_test

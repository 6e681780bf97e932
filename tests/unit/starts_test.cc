// SPDX-License-Identifier: BSD-3-Clause
//
// Starts of a persistent request on several ranks, by times that are made up: all ranks go on alike, and what they
// find.
#include "learn/starts.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "support/test.hpp"

namespace stretto::learn::starts_test {
namespace {

struct Rank {
  Rank(std::size_t candidates, bool one_clock, Moment offset)
      : comparison(candidates, 0, false),
        starts(comparison, round, one_clock),
        clock(offset) {}
  Comparison comparison;
  Round round;
  Starts starts;
  Moment clock;  ///< how far it is ahead
};

struct Played {
  std::vector<std::size_t> served;  ///< starts of each candidate
  std::size_t told = 0;             ///< stages behind a start
  std::size_t current = 0;
  double seconds = 0;  ///< what the first rank takes for the current one's time
  bool settled = false;
};

/// `took` has each candidate's nanoseconds; the last `later` ones are compared when the others have been. Ranks come to
/// a start at different times, and leave it together.
Played play(const std::vector<Moment>& took, int starts, bool one_clock, bool waits = true, std::size_t later = 0) {
  constexpr Moment telling = 2000;
  std::mt19937 random(5);
  std::uniform_int_distribution<Moment> late(0, 3000);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (Moment r = 0; r < 3; ++r)
    ranks.push_back(std::make_unique<Rank>(took.size() - later, one_clock, one_clock ? 0 : r * 1'000'000'000));
  Played played;
  played.served.resize(took.size());
  std::size_t last = 0;
  Moment now = 1'000'000;
  for (int i = 0; i < starts; ++i) {
    std::vector<std::size_t> candidates;
    std::vector<std::vector<Moment>> told;
    std::vector<Moment> came;
    for (auto& rank : ranks) {
      const bool goes_on = rank->starts.goes_on();
      candidates.push_back(goes_on ? last : rank->starts.next());
      told.push_back(goes_on ? std::vector<Moment>{} : rank->starts.tells());
      CHECK(told.back().empty() || !rank->starts.timed());
      came.push_back(now + late(random));
    }
    for (const std::size_t one : candidates) CHECK_EQ(one, candidates[0]);
    for (const auto& one : told) CHECK_EQ(one.size(), told[0].size());
    last = candidates[0];
    ++played.served[last];
    const Moment end = *std::ranges::max_element(came) + took[last];
    for (std::size_t r = 0; r < ranks.size(); ++r)
      if (waits && ranks[r]->starts.timed()) ranks[r]->starts.set({came[r] + ranks[r]->clock, end + ranks[r]->clock});
    now = end + 100;
    if (told[0].empty()) continue;
    ++played.told;
    std::vector<Moment> least = told[0];
    for (const auto& one : told)
      for (std::size_t k = 0; k < least.size(); ++k) least[k] = std::min(least[k], one[k]);
    for (auto& rank : ranks) rank->starts.told(least, end + rank->clock, end + telling + rank->clock);
    if (ranks[0]->comparison.settled())
      for (const std::size_t more = std::exchange(later, 0); auto& rank : ranks)
        if (more > 0) rank->comparison.add(more);
    now += telling;
  }
  played.current = ranks[0]->comparison.current();
  played.seconds = ranks[0]->comparison.seconds(played.current);
  played.settled = ranks[0]->comparison.settled();
  return played;
}

TEST(the_fastest_serves_on_all_ranks) {
  for (const bool one_clock : {true, false}) {
    const Played p = play({20'000, 30'000, 12'000, 15'000}, 20'000, one_clock);
    CHECK_EQ(p.current, std::size_t{2});
    CHECK(p.settled);
    CHECK(p.served[2] > 15'000);
    // Neither that a rank came late counts, nor what its clock says.
    CHECK(p.seconds > 11.99e-6 && p.seconds < 12.01e-6);
  }
}

TEST(candidates_that_come_later_have_rounds_of_their_own) {
  for (const bool one_clock : {true, false})
    for (const Moment usual : {20'000, 40'000}) {
      const Played p = play({usual, usual, usual, 4'000, 8'000, 3'000}, 20'000, one_clock, true, 2);
      CHECK_EQ(p.current, std::size_t{5});
      CHECK(p.settled);
      CHECK(p.served[4] < 10);
    }
}

TEST(once_decided_nothing_is_told) {
  for (const bool one_clock : {true, false}) {
    const Played short_one = play({20'000, 30'000, 12'000}, 6'000, one_clock);
    const Played long_one = play({20'000, 30'000, 12'000}, 9'000, one_clock);
    CHECK(short_one.settled);
    CHECK(long_one.told <= short_one.told + (one_clock ? 1 : 2));  // a look
  }
}

TEST(starts_that_nobody_waits_for_are_left_as_they_are) {
  const Played p = play({20'000, 5'000}, 20'000, true, false);
  CHECK_EQ(p.current, std::size_t{0});
  CHECK(p.served[1] < 20);
}

TEST(a_request_that_is_started_seldom_is_never_tried_on) {
  const Played p = play({20'000, 5'000}, 250, false);
  CHECK_EQ(p.served[0], std::size_t{250});
  CHECK_EQ(p.told, std::size_t{1});  // the beginning of the first round
}

}  // namespace
}  // namespace stretto::learn::starts_test

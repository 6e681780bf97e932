// SPDX-License-Identifier: BSD-3-Clause
#include "learn/starts.hpp"

#include <algorithm>

namespace stretto::learn {

std::size_t Starts::next() {
  timed_ = comparison_.quiet == 0;
  if (!timed_) {
    --comparison_.quiet;
    return candidate_ = comparison_.current();
  }
  const Comparison::Turn turn = comparison_.next_turn();
  if (turn.first) round_.begin(zero_);
  call_ = round_.add();
  if (turn.last) {
    over_ = true;
    comparison_.wait(1);  // the start that tells: only then the last one of the round is complete
  }
  return candidate_ = turn.candidate;
}

std::vector<Moment> Starts::tells() const {
  if (timed_) return {};
  if (over_) return round_.numbers(telling_);
  return comparison_.quiet == 0 && !one_clock_ ? std::vector<Moment>{0} : std::vector<Moment>{};
}

std::optional<Verdict> Starts::told(std::span<const Moment> least, Moment begin, Moment now) {
  // The program may have computed meanwhile.
  telling_ = telling_ > 0 ? std::min(telling_, now - begin) : now - begin;
  std::optional<Verdict> verdict;
  if (over_) {
    over_ = false;
    const Round::Outcome outcome = Round::conclude(least, 1);
    verdict = comparison_.conclude(outcome.seconds, outcome.overhead);
  }
  if (!one_clock_) zero_ = now;
  return verdict;
}

}  // namespace stretto::learn

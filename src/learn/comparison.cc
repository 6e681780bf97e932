// SPDX-License-Identifier: BSD-3-Clause
#include "learn/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stretto::learn {
namespace {

// A challenger that gains less is not worth a change: that much is noise, and what is measured is a little in favour
// of whoever is lucky.
constexpr double least_gain = 0.985;
constexpr std::size_t fewest_pairs = 6;          // of a challenger that is neither far behind nor far ahead
constexpr std::size_t most_pairs = 48;           // after which it is given up …
constexpr double likely_gain = 0.96;             // … unless the median is less
constexpr std::size_t most_calls_of_round = 16;  // of a candidate …
constexpr std::size_t most_turns_of_round = 8;   // … if a turn is several calls
constexpr std::size_t most_times = 64;           // kept of a candidate
constexpr std::size_t most_overheads = 15;
constexpr double behind = 1.5;       // a challenger is clearly behind if every ratio is larger, ahead below 1/behind
constexpr double far_behind = 3;     // it is not even looked at later
constexpr double most_charged = 10;  // calls, or 100 µs, for the only time of a candidate
constexpr double always_charged = 1e-4;
constexpr double unknown_excess = 2;  // what a first call is expected to take longer, in calls
constexpr double outlier = 4;         // times the median: not the candidate's doing
constexpr double look_gain = 0.9;     // a settled choice is in doubt if another one takes less …
constexpr double changed = 1.6;       // … or if its own time has become so many times another
constexpr std::uint32_t longest_quiet = 1u << 30;

/// By one ratio, which may have been bad luck.
bool seems_behind(const std::vector<double>& ratios) { return ratios.size() == 1 && ratios[0] > behind; }

template <typename Range>
double median(const Range& numbers) {
  if (numbers.empty()) return 0;
  std::vector<double> sorted(numbers.begin(), numbers.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

}  // namespace

Comparison::Comparison(std::size_t candidates, std::size_t current, bool known, const Limits& limits)
    : limits_(limits),
      candidates_(candidates),
      current_(current),
      until_look_(limits.check) {
  if (known || candidates < 2) {
    finish();
    return;
  }
  for (std::size_t k = 0; k < candidates; ++k)
    if (k != current) left_.push_back(k);
  plan_turns();
  quiet = limits_.first_round(current == 0);
  calls_ = quiet;
}

double Comparison::seconds(std::size_t candidate) const {
  const auto& [alone, in_a_row] = candidates_[candidate].times;
  return median(in_a_row.empty() ? alone : in_a_row);
}

double Comparison::overhead() const { return median(overheads_); }

double Comparison::spent() const {
  // The only time of one candidate may be the machine's doing; that of several is theirs.
  const double charged = std::max(most_charged * seconds(current_), always_charged);
  double sum = 0, forgiven = 0;
  for (const Candidate& one : candidates_) {
    sum += one.excess;
    if (one.timed == 1) forgiven = std::max(forgiven, one.excess - charged);
  }
  sum -= forgiven;
  // Of a candidate's first round all counts: what is prepared then is not done again.
  const double first = std::max(first_overheads_ - overhead() * first_rounds_, 0.0);
  return std::max(sum, 0.0) + overhead() * static_cast<double>(rounds_) + first;
}

Comparison::Turn Comparison::next_turn() {
  const bool is_challenger = (turn_ % 2 == 1) != challenger_first(turn_ / 2);
  const Turn turn{is_challenger ? challenger_ : current_, turn_ == 0, turn_ + 1 == 2 * round_pairs_, turn_calls_};
  ++turn_;
  calls_ += turn_calls_;
  return turn;
}

Verdict Comparison::conclude(std::span<const double> seconds, double overhead) {
  Candidate& own = candidates_[current_];
  Candidate& other = candidates_[challenger_];
  if (looking_) other.ratios.clear();
  if (!std::exchange(other.begun, true)) {
    first_overheads_ += overhead;
    ++first_rounds_;
  }
  const std::size_t pairs_before = pairs_;
  for (std::size_t i = 0; i + 1 < seconds.size(); i += 2) {
    const std::size_t late = challenger_first(i / 2) ? 1 : 0;
    const double current = seconds[i + late], challenger = seconds[i + 1 - late];
    if (current <= 0 || challenger <= 0) continue;
    other.ratios.push_back(challenger / current);
    ++pairs_;
    keep_time(own, current);
    add_time(other, challenger);
  }
  vain_ = pairs_ > pairs_before ? 0 : vain_ + 1;
  ++rounds_;
  overheads_.push_back(overhead);
  if (overheads_.size() > most_overheads) overheads_.pop_front();
  turn_ = 0;
  const Verdict verdict = judge();
  plan_round();
  return verdict;
}

void Comparison::keep_time(Candidate& candidate, double seconds) const {
  auto& times = candidate.times[kind()];
  times.push_back(seconds);
  if (times.size() > most_times) times.pop_front();
}

/// Of a challenger: with what it took longer than the current one. A time that is far off is taken for the machine's
/// doing as soon as others say so.
void Comparison::add_time(Candidate& candidate, double seconds) {
  constexpr std::size_t enough = 3;
  const bool is_one_of_first = candidate.first.size() < enough;
  const double calls = turn_calls_;
  if (is_one_of_first) candidate.first.push_back({seconds, calls});
  keep_time(candidate, seconds);
  candidate.timed += turn_calls_;
  const double usual = this->seconds(current_);
  if (!is_one_of_first) {
    candidate.excess += calls * (std::min(seconds, outlier * median(candidate.times[kind()])) - usual);
    return;
  }
  // Together they tell; of two the shorter one.
  std::vector<double> known;
  for (const TimedTurn& one : candidate.first) known.push_back(one.seconds);
  candidate.excess = 0;
  for (const TimedTurn& one : candidate.first)
    candidate.excess += one.calls * (std::min(one.seconds, outlier * median(known)) - usual);
}

Verdict Comparison::judge() {
  const std::vector<double>& all = candidates_[challenger_].ratios;
  // The first call of a candidate finds nothing of its own in the cache.
  constexpr std::size_t without_first = 4;
  std::vector<double> sorted(all.begin() + (all.size() >= without_first && !looking_ ? 1 : 0), all.end());
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  Verdict verdict{Event::none, challenger_, n > 0 ? sorted[n / 2] : 1, n};
  if (n == 0) return verdict;
  if (looking_) return judge_look(verdict);
  // Bounds of the median: with so many ratios beyond them on either side, one that is beyond is unlikely.
  constexpr double deviations = 2.5;  // it is asked again after each round
  const double size = static_cast<double>(n);
  const auto beyond = static_cast<std::size_t>(std::max(0.0, std::floor((size - deviations * std::sqrt(size)) / 2)));
  const bool enough = n >= most_pairs;
  constexpr std::size_t fewest_ahead = 3;
  const bool ahead = n >= fewest_ahead && sorted.back() * behind < 1;
  const bool better =
      ahead || (n >= fewest_pairs && (sorted[n - 1 - beyond] < least_gain || (enough && verdict.ratio < likely_gain)));
  const bool worse = (n >= 2 && sorted[0] > behind) || (n >= fewest_pairs && sorted[beyond] > least_gain) || enough;
  if (better) {
    verdict.event = Event::better;
    left_.pop_front();
    make_current(challenger_);  // whoever was behind the other one is behind this one
    found_ = true;
  } else if (worse) {
    verdict.event = Event::worse;
    left_.pop_front();
  } else if (seems_behind(sorted) && left_.size() > 1) {
    left_.push_back(left_.front());  // the others first; one call may have been bad luck
    left_.pop_front();
  } else if (n >= 2 && verdict.ratio <= behind && !candidates_[challenger_].in_a_row && fit_in_a_row()) {
    candidates_[challenger_].in_a_row = true;
    candidates_[challenger_].ratios.clear();
  }
  if (left_.empty()) {
    if (verdict.event == Event::worse) verdict.event = Event::settled;
    found_ = true;
    for (std::size_t k = 0; k < when_settled_.size(); ++k) when_settled_[k] = median(candidates_[current_].times[k]);
  }
  return verdict;
}

/// May turns of the two that are compared be several calls?
bool Comparison::fit_in_a_row() const {
  const double longer = std::max(seconds(current_), seconds(challenger_));
  return limits_.in_a_row > 1 && limits_.in_a_row * longer <= limits_.longest_turn;
}

/// At a settled choice: two looks in a row must doubt it.
Verdict Comparison::judge_look(const Verdict& so_far) {
  Verdict verdict = so_far;
  verdict.event = Event::holds;
  const auto& times = candidates_[current_].times[kind()];
  const std::size_t last = std::min(times.size(), verdict.pairs);
  const double now = median(std::vector<double>(times.end() - static_cast<std::ptrdiff_t>(last), times.end()));
  double& before = when_settled_[kind()];
  if (before == 0) before = now;
  const bool other_is_better = verdict.ratio < look_gain && std::ranges::max(candidates_[challenger_].ratios) < 1;
  const bool other_times = now > changed * before || changed * now < before;
  if (!other_is_better && !other_times) {
    doubted_ = false;
    ++look_at_;
    until_look_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(2ull * until_look_, limits_.rarest));
  } else if (!doubted_) {
    doubted_ = true;
  } else {
    verdict.event = Event::reopened;
    reopen();
  }
  return verdict;
}

void Comparison::reopen() {
  doubted_ = looking_ = false;
  until_look_ = limits_.check;
  for (std::size_t k = 0; k < candidates_.size(); ++k) {
    candidates_[k].ratios.clear();
    candidates_[k].in_a_row = false;
    if (k != current_) left_.push_back(k);
  }
  // The likely ones first, by what is known of them.
  std::ranges::stable_sort(left_, {}, [&](std::size_t k) { return k == challenger_ ? 0 : seconds(k); });
  // The last ones are a first estimate.
  constexpr std::ptrdiff_t most_kept = 5;
  for (Candidate& one : candidates_)
    for (auto& times : one.times)
      while (std::ssize(times) > most_kept) times.pop_front();
}

std::uint64_t Comparison::served(std::size_t candidate) const {
  const std::uint64_t made = calls_ - quiet;
  return candidates_[candidate].served + (candidate == current_ && made > since_ ? made - since_ : 0);
}

void Comparison::make_current(std::size_t candidate) {
  candidates_[current_].served = served(current_);
  current_ = candidate;
  since_ = calls_ - quiet;
}

void Comparison::add(std::size_t more) {
  for (; more > 0; --more) {
    left_.push_back(candidates_.size());
    candidates_.emplace_back();
  }
  calls_ -= quiet;  // a look at the choice is not due yet
  plan_round();
}

void Comparison::take_over(std::size_t current) {
  if (settled()) calls_ -= quiet;  // else those before the first round have been made
  quiet = 0;
  make_current(current);
  left_.clear();
  found_ = true;
  finish();
}

void Comparison::finish() {
  turn_ = 0;
  plan_turns();
  quiet = candidates_.size() < 2 ? longest_quiet : until_look_;
  calls_ += quiet;
}

void Comparison::choose_challenger() {
  looking_ = left_.empty();
  if (!looking_) {
    challenger_ = left_.front();
    return;
  }
  if (candidates_.size() < 2) return;
  if (doubted_) return;  // the same once more
  // One after the other, but for those that are far behind; in every other look the one that is nearest.
  std::size_t next = current_;
  const std::size_t all = candidates_.size();
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t k = (look_at_ / 2 + i) % all;
    if (k == current_) continue;
    // Or it is not known, or only by one call.
    const bool near = seconds(k) <= far_behind * seconds(current_) || candidates_[k].timed == 1;
    if (next == current_ || (look_at_ % 2 == 0 && seconds(k) > 0 && seconds(k) < seconds(next)) ||
        (near && seconds(next) > far_behind * seconds(current_)))
      next = k;
  }
  challenger_ = next;
}

void Comparison::plan_turns() {
  choose_challenger();
  const Candidate& next = candidates_[challenger_];
  // Of one that may be far behind a single call must do.
  const bool is_near = next.timed > 1 && seconds(challenger_) <= behind * seconds(current_);
  turn_calls_ = (looking_ ? is_near && fit_in_a_row() : next.in_a_row) ? limits_.in_a_row : 1;
  round_pairs_ = pairs_of_next();
}

/// The shorter calls are, the more: telling takes as long for one pair.
std::size_t Comparison::pairs_of_next() const {
  const double usual = seconds(current_);
  const double fit = usual > 0 ? overhead() / usual : 1;
  constexpr std::size_t at_first = 4;
  const std::size_t most = turn_calls_ > 1 ? most_turns_of_round : most_calls_of_round;
  const auto pairs = static_cast<std::size_t>(std::clamp(fit, 1.0, static_cast<double>(most)));
  constexpr std::size_t for_a_look = 3;
  if (looking_) return candidates_[challenger_].timed > 1 ? std::max(pairs, for_a_look) : 1;
  const Candidate& next = candidates_[challenger_];
  if (next.in_a_row) return pairs;
  if (seems_behind(next.ratios)) return 1;
  if (compares_with_native() && next.ratios.empty()) return at_first;
  return next.ratios.empty() ? std::min(pairs, at_first) : pairs;
}

void Comparison::plan_round() {
  plan_turns();
  const double usual = seconds(current_), other = seconds(challenger_);
  double calls = limits_.before;
  if (usual > 0) {
    // So many calls pay what has been spent, and the next round.
    const double excess = other > 0 ? std::max(other - usual, 0.0) : unknown_excess * usual;
    const double expected = static_cast<double>(round_pairs_ * turn_calls_) * excess + overhead();
    const double paid = (spent() + expected) / (limits_.share * usual);
    calls = std::max(paid - static_cast<double>(calls_), 0.0);
  }
  if (!looking_ && !compares_with_native() && candidates_[challenger_].timed == 0)
    calls = std::max(calls, static_cast<double>(limits_.before) - static_cast<double>(calls_));
  // Calls of which nothing can be told, as several are under way at once: ever more seldom.
  if (vain_ > 0)
    calls = std::max(
        calls, std::min(std::ldexp(static_cast<double>(limits_.before), vain_), static_cast<double>(limits_.rarest)));
  if (looking_) calls = std::max(calls, static_cast<double>(doubted_ ? limits_.check / 2 : until_look_));
  quiet = static_cast<std::uint32_t>(std::min(std::ceil(calls), static_cast<double>(longest_quiet)));
  calls_ += quiet;
}

}  // namespace stretto::learn

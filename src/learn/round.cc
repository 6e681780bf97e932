// SPDX-License-Identifier: BSD-3-Clause
#include "learn/round.hpp"

#include <algorithm>

namespace stretto::learn {

Span span_of(const Watch& watch) {
  if (watch.posted == 0 || watch.waited == 0 || watch.ended == 0) return {};
  if (watch.posted >= watch.waited) return {watch.posted, std::max(watch.ended, watch.posted)};
  const Moment posting = std::max<Moment>(watch.returned - watch.posted, 0);
  return {watch.waited - posting, std::max(watch.ended, watch.waited)};
}

void Round::begin(Moment zero) {
  spans_.clear();
  beside = 0;
  zero_ = zero;
  ++serial_;
}

std::size_t Round::add() {
  spans_.emplace_back();
  return spans_.size() - 1;
}

void Round::set(std::size_t call, Span span) {
  if (span.begin == unknown || span.end == unknown) return;
  spans_[call] = {span.begin - zero_, span.end - zero_};
}

std::vector<Moment> Round::numbers(Moment telling) const {
  std::vector<Moment> all;
  for (const Span& span : spans_) {  // the latest of all is the smallest of the negative ones
    all.push_back(-span.begin);
    all.push_back(-span.end);
  }
  all.push_back(beside);
  all.push_back(telling);
  return all;
}

Round::Outcome Round::conclude(std::span<const Moment> least, std::size_t calls_of_turn) {
  constexpr double nanosecond = 1e-9;
  Outcome outcome;
  const std::size_t calls = least.size() / 2 - 1;
  Moment sum = 0;
  bool all_told = true;
  for (std::size_t i = 0; i < calls; ++i) {
    const Moment last_came = -least[2 * i], last_left = -least[2 * i + 1];
    const bool told = last_came < unknown && last_left < unknown;
    outcome.late = told ? 0 : outcome.late + 1;
    all_told &= told;
    sum += told ? std::max<Moment>(last_left - last_came, 1) : 0;
    if ((i + 1) % calls_of_turn != 0) continue;
    const double mean = static_cast<double>(sum) / static_cast<double>(calls_of_turn);
    outcome.seconds.push_back(all_told ? mean * nanosecond : 0);
    sum = 0;
    all_told = true;
  }
  outcome.overhead = static_cast<double>(least[2 * calls] + least[2 * calls + 1]) * nanosecond;
  return outcome;
}

}  // namespace stretto::learn

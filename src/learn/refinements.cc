// SPDX-License-Identifier: BSD-3-Clause
#include "learn/refinements.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <utility>

namespace stretto::learn {
namespace {

constexpr Bytes least_segment = 8 << 10;
constexpr int least_depth = 2, most_depth = 32;
constexpr Bytes step = 4;  // of segments and of their number in flight

/// The choice, then the fastest call of each other algorithm; whatever takes longer than `near` times the choice's
/// time is hardly to be made the fastest by other numbers.
std::vector<std::size_t> bases(std::span<const Candidate> compared, const Comparison& comparison) {
  constexpr double near = 1.3;
  std::vector<std::size_t> by_time;
  for (std::size_t k = 0; k < compared.size(); ++k)
    if (k != comparison.current() && comparison.seconds(k) > 0) by_time.push_back(k);
  std::ranges::stable_sort(by_time, {}, [&](std::size_t k) { return comparison.seconds(k); });
  std::vector<std::size_t> found{comparison.current()};
  for (const std::size_t k : by_time) {
    if (comparison.seconds(k) > near * comparison.seconds(comparison.current())) break;
    const bool there = std::ranges::any_of(
        found, [&](std::size_t other) { return compared[other].algorithm == compared[k].algorithm; });
    if (!there) found.push_back(k);
  }
  return found;
}

/// Of a candidate's numbers, behind its place in the list.
constexpr int bits_of_place = 6, bits_of_depth = 7, bits_of_value = 17;
constexpr int shift_of_value = bits_of_place + bits_of_depth, shift_of_segment = shift_of_value + bits_of_value;
constexpr int bits_of_segment = 60 - shift_of_segment;

constexpr std::int64_t bits_at(std::int64_t code, int shift, int bits) {
  return code >> shift & ((std::int64_t{1} << bits) - 1);
}

}  // namespace

std::vector<Candidate> refinements(const Candidate& choice, const Call& call) {
  if (!choice.algorithm) return {};
  const Algorithm& algorithm = *choice.algorithm;
  const Candidate base{&algorithm, normalized(choice.params, call.bytes)};
  std::vector<Candidate> found;
  const auto add = [&](Params params) {
    Candidate one{&algorithm, normalized(std::move(params), call.bytes)};
    if (one != base && serves(one, call)) found.push_back(std::move(one));
  };
  const auto add_cut = [&](Bytes size, int in_flight) {
    Params params = base.params;
    params.segment = size;
    params.depth = in_flight;
    add(std::move(params));
  };
  const auto& of = facts(call.function);
  const bool may_cut = of.bytes_known && of.collective != Collective::barrier;
  const Bytes segment = base.params.segment;
  if (may_cut && segment == 0) {
    for (const auto& [parts, depth] : std::initializer_list<std::pair<Bytes, int>>{{2, 2}, {4, 2}, {16, 8}}) {
      const auto part = static_cast<Bytes>(std::bit_floor(static_cast<std::uint64_t>(call.bytes / parts)));
      if (part >= least_segment) add_cut(part, depth);
    }
  } else if (may_cut) {
    const int depth = base.params.depth, more = depth * static_cast<int>(step), fewer = depth / static_cast<int>(step);
    add_cut(segment < call.bytes / step ? segment * step : 0, depth);
    if (segment / step >= least_segment) add_cut(segment / step, depth);
    if (more <= most_depth && depth * segment < call.bytes) add_cut(segment, more);
    if (fewer >= least_depth) add_cut(segment, fewer);
  }
  const Parameter& parameter = algorithm.parameter;
  if (!parameter.default_value || algorithm.needs.counts) return found;
  const std::int64_t usual = resolved(algorithm, call.shape, {.list = base.params.list}).value;
  const std::int64_t own = base.params.value > 0 ? base.params.value : usual;
  const std::int64_t most = std::min(parameter.most, std::max<std::int64_t>(call.shape.ranks, 8 * usual));
  for (const std::int64_t value : {2 * own, own / 2, 4 * own, own / 4}) {
    if (value < parameter.least || value > most) continue;
    Params params = base.params;
    params.value = value == usual ? 0 : value;
    add(params);
    if (std::exchange(params.segment, 0) > 0) add(std::move(params));
  }
  return found;
}

std::vector<Candidate> next_refinements(std::span<const Candidate> compared, const Comparison& comparison,
                                        const Call& call, std::span<const Candidate> left_out) {
  const auto among = [](std::span<const Candidate> all, const Candidate& one) {
    return std::ranges::find(all, one) != all.end();
  };
  std::vector<Candidate> found;
  for (const std::size_t base : bases(compared, comparison)) {
    for (Candidate& one : refinements(compared[base], call))
      if (compared.size() + found.size() < most_refined && !among(compared, one) && !among(left_out, one))
        found.push_back(std::move(one));
    if (!found.empty()) break;
  }
  return found;
}

std::int64_t code_of(const Candidate& candidate, std::span<const Candidate> list) {
  const Params& params = candidate.params;
  const std::int64_t numbers =
      std::int64_t{params.depth} << bits_of_place | params.value << shift_of_value | params.segment << shift_of_segment;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::int64_t code = static_cast<std::int64_t>(i + 1) | numbers;
    if (decoded(code, list) == candidate) return code;  // a number that is too large comes back as another one
  }
  return 0;
}

std::optional<Candidate> decoded(std::int64_t code, std::span<const Candidate> list) {
  const auto place = static_cast<std::size_t>(bits_at(code, 0, bits_of_place));
  if (place == 0 || place > list.size()) return std::nullopt;
  Candidate found = list[place - 1];
  found.params.segment = bits_at(code, shift_of_segment, bits_of_segment);
  found.params.depth = static_cast<int>(bits_at(code, bits_of_place, bits_of_depth));
  found.params.value = bits_at(code, shift_of_value, bits_of_value);
  return found;
}

}  // namespace stretto::learn

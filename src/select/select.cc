// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "algorithms/patterns/powers.hpp"
#include "select/conditions.hpp"
#include "select/shipped.hpp"
#include "stretto/rules.hpp"

namespace stretto {

Bytes lends_from(Function function, KernelCopy kernel, bool oversubscribed) {
  if (facts(function).bytes_known || kernel == KernelCopy::fast) return least_lent;
  return oversubscribed ? 32 << 10 : 128 << 10;
}

namespace {

bool bytes_hold(const Rule& rule, const Call& call) {
  return rule.bytes.holds(call.bytes) && rule.part.holds(call.bytes / call.shape.ranks);
}

bool asks_for_bytes(const Rule& rule) {
  return (rule.conditions & balanced) != 0 || !rule.bytes.all() || !rule.part.all();
}

std::string why_not(const Algorithm* algorithm, const Params& params, const Call& call) {
  return algorithm ? unsuitable(*algorithm, call.function, call.shape, call.commutative, params) : "";
}

/// An override is granted all the same: a message that may not be copied by the kernel is staged.
std::string why_not(const Rule& rule, const Call& call) {
  if (rule.params.copy != Copy::staged && call.kernel_copy == KernelCopy::refused)
    return "the kernel may not copy between these ranks";
  return why_not(rule.algorithm, rule.params, call);
}

constexpr Bytes most_bytes = Bytes{1} << 62;

/// The smallest number of bytes for which blocks_balanced().
Bytes balanced_from(Rank ranks) {
  Bytes no = 0;
  Bytes yes = most_bytes;
  while (yes - no > 1) {
    const Bytes middle = no + (yes - no) / 2;
    (blocks_balanced(ranks, middle) ? yes : no) = middle;
  }
  return yes;
}

}  // namespace

Rule rule_of(const CompactRules& table, const CompactRule& r, int lines_before) {
  const CompactChoice& choice = table.choices[r.choice];
  const auto list = table.numbers.subspan(choice.list_begin, choice.list_end - choice.list_begin);
  return {.function = r.function,
          .bytes = table.ranges[r.bytes],
          .part = table.ranges[r.part],
          .ranks = table.ranges[r.ranks],
          .per_node = table.ranges[r.per_node],
          .to_node = table.ranges[r.to_node],
          .conditions = r.conditions,
          .algorithm = choice.algorithm < 0 ? nullptr : all_algorithms()[static_cast<std::size_t>(choice.algorithm)],
          .params = {choice.segment, choice.depth, choice.value, {list.begin(), list.end()}, choice.copy},
          .line = r.line + lines_before};
}

bool blocks_balanced(Rank ranks, Bytes bytes) {
  int delta = 0;
  for (int last = patterns::floor_log2(ranks), e = last - 1; e >= 0; --e) {
    if ((ranks >> e & 1) == 0) continue;
    delta = std::max(delta, last - e);
    last = e;
  }
  return bytes > 0 && delta < std::log2(static_cast<double>(bytes)) / 2 - 2.5;
}

Choice choose(std::span<const Override* const> overrides, const Rules& rules, const Call& call) {
  std::string not_granted;
  for (const Override* one : overrides) {
    if (!one) continue;
    const std::string refused = why_not(one->spec.algorithm, one->spec.params, call);
    if (refused.empty()) return {one->spec.algorithm, one->spec.params, one->text + not_granted, 0};
    not_granted += "; not " + one->text + ": " + refused;
  }
  std::string passed_over;
  Choice choice;
  each_rule(rules, call, conditions_that_hold(call), [&](const Rule& rule) {
    if (!bytes_hold(rule, call)) return false;
    const std::string refused = why_not(rule, call);
    if (refused.empty()) {
      choice = {rule.algorithm, rule.params, rules.place(rule.line) + passed_over + not_granted, rule.line};
      return true;
    }
    passed_over +=
        "; not " + std::string(rule.algorithm->name()) + " (line " + std::to_string(rule.line) + "): " + refused;
    return false;
  });
  if (choice.reason.empty()) choice.reason = "no rule of " + rules.file + " fits" + passed_over + not_granted;
  return choice;
}

OtherSizes other_sizes(std::span<const Override* const> overrides, const Rules& rules, const Call& call) {
  for (const Override* one : overrides)
    if (one && why_not(one->spec.algorithm, one->spec.params, call).empty()) return {};
  OtherSizes others;
  bool native = false;
  bool all_fit = false;
  each_rule(rules, call, conditions_that_hold(call) | balanced, [&](const Rule& rule) {
    if (!why_not(rule, call).empty()) return false;
    native = native || !rule.algorithm;
    all_fit = !asks_for_bytes(rule);
    others.differ = others.differ || !all_fit;
    return all_fit;
  });
  others.native = others.differ && (native || !all_fit);
  return others;
}

Between chosen_alike(const Rules& rules, const Call& call) {
  Between alike;
  // Conditions hold up to `last`, or fail up to there.
  const auto split_after = [&](Bytes last) {
    if (last < call.bytes)
      alike.low = std::max(alike.low, last + 1);
    else
      alike.high = std::min(alike.high, last);
  };
  const auto split = [&](const Between& condition, Rank parts) {
    if (condition.low > 0) split_after(condition.low * parts - 1);
    if (condition.high < most_bytes / parts) split_after(condition.high * parts + parts - 1);
  };
  const std::uint16_t held = conditions_that_hold(call);
  each_rule(rules, call, held | balanced, [&](const Rule& rule) {
    if (!why_not(rule, call).empty()) return false;
    split(rule.bytes, 1);
    if (rule.part.low <= most_bytes / call.shape.ranks) split(rule.part, call.shape.ranks);
    if ((rule.conditions & balanced) != 0) split_after(balanced_from(call.shape.ranks) - 1);
    return (rule.conditions & ~held) == 0 && bytes_hold(rule, call);  // it is chosen
  });
  return alike;
}

std::string_view name_of(Copy copy) {
  constexpr std::string_view names[] = {"staged", "kernel", "measured"};
  static_assert(std::size(names) == static_cast<std::size_t>(Copy::measured) + 1);
  return names[static_cast<std::size_t>(copy)];
}

std::string written_size(Bytes size) {
  constexpr std::string_view units = "KMG";
  std::string unit;
  for (std::size_t i = 0; i < units.size() && size > 0 && size % 1024 == 0; ++i) {
    size /= 1024;
    unit = units[i];
  }
  return std::to_string(size) + unit;
}

std::string written(const Algorithm* algorithm, const Params& params) {
  if (!algorithm) return "native";
  std::string text(algorithm->name());
  if (params.segment > 0) text += " segment=" + written_size(params.segment) + " depth=" + std::to_string(params.depth);
  if (params.copy != Copy::staged) text += " copy=" + std::string(name_of(params.copy));
  if (!algorithm->parameter.name.empty() && params.value != 0)
    text += ' ' + std::string(algorithm->parameter.name) + '=' + std::to_string(params.value);
  for (std::size_t i = 0; i < params.list.size(); ++i)
    text += (i == 0 ? ' ' + std::string(algorithm->list) + '=' : ":") + std::to_string(params.list[i]);
  return text;
}

}  // namespace stretto

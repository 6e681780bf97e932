// SPDX-License-Identifier: BSD-3-Clause
//
// rules/default.rules as compile_rules.cc writes it when the library is built. The table has numbers where rules have
// pointers, so that the loader need not touch it and all processes share its memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "stretto/rules.hpp"

namespace stretto {

struct CompactChoice {
  int algorithm;  ///< its number in all_algorithms(); -1: the native library
  int depth;
  Bytes segment;
  std::int64_t value;
  std::uint32_t list_begin, list_end;  ///< among the table's numbers
  Copy copy;
};

struct CompactRule {
  std::uint16_t line;
  std::uint16_t bytes, part, ranks, per_node, to_node;  ///< numbers of ranges
  std::uint16_t choice;                                 ///< number of a choice
  std::uint16_t conditions;
  Function function;
};

struct CompactRules {
  std::span<const Between> ranges;
  std::span<const CompactChoice> choices;
  std::span<const Rank> numbers;  ///< of all lists
  std::span<const CompactRule> rules;
};

extern const CompactRules shipped_table;

/// One of the table, with its line of the joined text.
Rule rule_of(const CompactRules& table, const CompactRule& rule, int lines_before);

/// Calls `each(rule)` for the function's rules whose conditions hold but for those on bytes, in their order, until it
/// returns true. `held`: conditions_that_hold(). Those of a table are made one by one: all of them are 400 KB, and each
/// process would have its own.
template <typename Each>
void each_rule(const Rules& rules, const Call& call, std::uint16_t held, Each each) {
  const auto hold = [&](std::uint16_t conditions, const Between& ranks, const Between& per_node,
                        const Between& to_node) {
    return (conditions & ~held) == 0 && ranks.holds(call.shape.ranks) && per_node.holds(call.per_node) &&
           to_node.holds(call.to_node);
  };
  for (const Rule& r : rules.rules)
    if (r.function == call.function && hold(r.conditions, r.ranks, r.per_node, r.to_node) && each(r)) return;
  if (!rules.compiled) return;
  const CompactRules& table = *rules.compiled;
  for (const CompactRule& r : table.rules)
    if (r.function == call.function &&
        hold(r.conditions, table.ranges[r.ranks], table.ranges[r.per_node], table.ranges[r.to_node]) &&
        each(rule_of(table, r, rules.compiled_behind)))
      return;
}

}  // namespace stretto

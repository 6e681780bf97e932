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

/// Calls `each(rule)` for the function's rules in their order until it returns true. Those of a table are made one by
/// one: all of them are 400 KB, and each process would have its own.
template <typename Each>
void each_rule(const Rules& rules, Function function, Each each) {
  for (const Rule& rule : rules.rules)
    if (rule.function == function && each(rule)) return;
  if (!rules.compiled) return;
  for (const CompactRule& rule : rules.compiled->rules)
    if (rule.function == function && each(rule_of(*rules.compiled, rule, rules.compiled_behind))) return;
}

}  // namespace stretto

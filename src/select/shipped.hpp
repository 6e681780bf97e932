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

extern const std::string_view shipped_rules_text;

struct CompactChoice {
  int algorithm;  ///< its number in all_algorithms(); -1: the native library
  int depth;
  Bytes segment;
  std::int64_t value;
  std::uint32_t list_begin, list_end;  ///< among the table's numbers
  bool kernel_copy;
};

struct CompactRule {
  std::uint16_t line;
  std::uint16_t bytes, part, ranks, per_node, to_node;  ///< numbers of ranges
  std::uint16_t choice;                                 ///< number of a choice
  Function function;
  bool balanced;
  RanksAre ranks_are;
  OperatorIs operator_is;
  NodesAre nodes_are;
  CoresAre cores_are;
  KernelIs kernel_is;
};

struct CompactRules {
  std::span<const Between> ranges;
  std::span<const CompactChoice> choices;
  std::span<const Rank> numbers;  ///< of all lists
  std::span<const CompactRule> rules;
};

extern const CompactRules shipped_table;

}  // namespace stretto

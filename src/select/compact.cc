// SPDX-License-Identifier: BSD-3-Clause
#include "select/shipped.hpp"

namespace stretto {
namespace {

Params params_of(const CompactChoice& choice, std::span<const Rank> numbers) {
  const auto list = numbers.subspan(choice.list_begin, choice.list_end - choice.list_begin);
  return {choice.segment, choice.depth, choice.value, {list.begin(), list.end()}, choice.copy};
}

}  // namespace

Rule rule_of(const CompactRules& table, const CompactRule& r, int lines_before) {
  const CompactChoice& choice = table.choices[r.choice];
  return {.function = r.function,
          .bytes = table.ranges[r.bytes],
          .part = table.ranges[r.part],
          .ranks = table.ranges[r.ranks],
          .per_node = table.ranges[r.per_node],
          .to_node = table.ranges[r.to_node],
          .conditions = r.conditions,
          .algorithm = choice.algorithm < 0 ? nullptr : all_algorithms()[static_cast<std::size_t>(choice.algorithm)],
          .params = params_of(choice, table.numbers),
          .line = r.line + lines_before};
}

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
//
// Conditions of rules that have no number: they hold for a call or do not. A set of them is a number, bit i of which
// is conditions[i].
#pragma once

#include <algorithm>
#include <array>

#include "algorithms/patterns/powers.hpp"
#include "stretto/rules.hpp"

namespace stretto {

struct Condition {
  std::string_view text;
  std::string_view kind;  ///< a rule has one of a kind
  bool (*holds)(const Call&);
};

inline constexpr std::array conditions{
    Condition{"ranks=2^k", "ranks", [](const Call& c) { return patterns::is_power_of_two(c.shape.ranks); }},
    Condition{"ranks!=2^k", "ranks", [](const Call& c) { return !patterns::is_power_of_two(c.shape.ranks); }},
    Condition{"ranks=balanced", "blocks", [](const Call& c) { return blocks_balanced(c.shape.ranks, c.bytes); }},
    Condition{"nodes=1", "nodes", [](const Call& c) { return c.one_node(); }},
    Condition{"nodes>1", "nodes", [](const Call& c) { return !c.one_node(); }},
    Condition{"nodes=even", "nodes", [](const Call& c) { return !c.one_node() && c.even_nodes; }},
    Condition{"cores=own", "cores", [](const Call& c) { return !c.oversubscribed; }},
    Condition{"cores=shared", "cores", [](const Call& c) { return c.oversubscribed; }},
    Condition{"kernel=fast", "kernel", [](const Call& c) { return c.kernel_copy == KernelCopy::fast; }},
    Condition{"operator=commutative", "operator", [](const Call& c) { return c.commutative; }},
    Condition{"operator=not-commutative", "operator", [](const Call& c) { return !c.commutative; }},
    Condition{"operator=predefined", "operator", [](const Call& c) { return c.predefined; }},
    Condition{"operator=user", "operator", [](const Call& c) { return !c.predefined; }},
};

/// The bit of a condition; 0: there is none.
constexpr std::uint16_t bit_of(std::string_view text) {
  const auto found = std::ranges::find(conditions, text, &Condition::text);
  return found == conditions.end() ? 0 : static_cast<std::uint16_t>(1 << (found - conditions.begin()));
}

static_assert(conditions.size() <= 16);

/// The only one that depends on the number of bytes.
inline constexpr std::uint16_t balanced = bit_of("ranks=balanced");

inline std::uint16_t conditions_that_hold(const Call& call) {
  std::uint16_t all = 0;
  for (std::size_t i = 0; i < conditions.size(); ++i)
    if (conditions[i].holds(call)) all |= static_cast<std::uint16_t>(1 << i);
  return all;
}

}  // namespace stretto

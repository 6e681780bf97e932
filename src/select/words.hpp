// SPDX-License-Identifier: BSD-3-Clause
//
// Conditions of rules that have no number: words, which hold for a call or do not. A set of them is a number, bit i of
// which is words[i].
#pragma once

#include <algorithm>
#include <array>

#include "algorithms/patterns/powers.hpp"
#include "stretto/rules.hpp"

namespace stretto {

struct Word {
  std::string_view text;
  std::string_view kind;  ///< a rule has one of a kind
  bool (*holds)(const Call&);
};

inline constexpr std::array words{
    Word{"ranks=2^k", "ranks", [](const Call& c) { return patterns::is_power_of_two(c.shape.ranks); }},
    Word{"ranks!=2^k", "ranks", [](const Call& c) { return !patterns::is_power_of_two(c.shape.ranks); }},
    Word{"ranks=balanced", "blocks", [](const Call& c) { return blocks_balanced(c.shape.ranks, c.bytes); }},
    Word{"nodes=1", "nodes", [](const Call& c) { return c.one_node(); }},
    Word{"nodes>1", "nodes", [](const Call& c) { return !c.one_node(); }},
    Word{"nodes=even", "nodes", [](const Call& c) { return !c.one_node() && c.even_nodes; }},
    Word{"cores=own", "cores", [](const Call& c) { return !c.oversubscribed; }},
    Word{"cores=shared", "cores", [](const Call& c) { return c.oversubscribed; }},
    Word{"kernel=fast", "kernel", [](const Call& c) { return c.kernel_copy == KernelCopy::fast; }},
    Word{"operator=commutative", "operator", [](const Call& c) { return c.commutative; }},
    Word{"operator=not-commutative", "operator", [](const Call& c) { return !c.commutative; }},
    Word{"operator=predefined", "operator", [](const Call& c) { return c.predefined; }},
    Word{"operator=user", "operator", [](const Call& c) { return !c.predefined; }},
};

/// The bit of a word; 0: there is none.
constexpr std::uint16_t bit_of(std::string_view text) {
  const auto found = std::ranges::find(words, text, &Word::text);
  return found == words.end() ? 0 : static_cast<std::uint16_t>(1 << (found - words.begin()));
}

static_assert(words.size() <= 16);

/// The only one that depends on the number of bytes.
inline constexpr std::uint16_t balanced = bit_of("ranks=balanced");

inline std::uint16_t words_that_hold(const Call& call) {
  std::uint16_t all = 0;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i].holds(call)) all |= static_cast<std::uint16_t>(1 << i);
  return all;
}

}  // namespace stretto

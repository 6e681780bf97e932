// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as groups: those after the root, and groups of k neighbours such as the ranks of a node.
#pragma once

#include <string>
#include <vector>

#include "algorithms/patterns/powers.hpp"
#include "stretto/algorithm.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// The ranks as they come after the root: with these as a group, ranks are places and the root is 0.
inline Members from_root(const Builder& b, Rank root) {
  return {b.ranks(), modulo(b.rank() - root, b.ranks()),
          [root, ranks = b.ranks()](Rank v) { return modulo(v + root, ranks); }};
}

/// The same without the root.
inline Members after_root(const Builder& b, Rank root) {
  const Rank v = modulo(b.rank() - root, b.ranks());
  return {b.ranks() - 1, v == 0 ? no_rank : v - 1,
          [root, ranks = b.ranks()](Rank place) { return modulo(place + 1 + root, ranks); }};
}

/// `default_value` of the parameter "group": the largest divisor of p that is not above its square root.
inline std::int64_t default_group(const Shape& shape) {
  std::int64_t group = 1;
  for (std::int64_t k = 2; k * k <= shape.ranks; ++k)
    if (shape.ranks % k == 0) group = k;
  return group;
}

/// `misfit` of an algorithm with that parameter.
inline std::string group_misfit(const Shape& shape, const Params& params) {
  if (shape.ranks % params.value == 0) return {};
  return std::to_string(shape.ranks) + " ranks are no multiple of group=" + std::to_string(params.value);
}

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// Prefixes over nodes of consecutive ranks: the last rank of a node, its leader, has the node's total, leaders find
// what comes before their nodes, and these combine it with their own prefixes. Rank order is kept.
#pragma once

#include <string>
#include <vector>

#include "algorithms/patterns/knomial.hpp"
#include "algorithms/patterns/nodes.hpp"
#include "algorithms/patterns/scan.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// `misfit` of scans.
inline std::string consecutive_nodes_misfit(const Shape& shape, const Params& params) {
  std::string misfit = nodes_misfit(shape, params);
  if (!misfit.empty()) return misfit;
  const Nodes nodes(shape.ranks, params.list, 0);
  for (int level = 0; level + 1 < nodes.levels(); ++level)
    for (Rank r = 1; r < shape.ranks; ++r)
      if (nodes.unit(level + 1, r) < nodes.unit(level + 1, r - 1))
        return "a prefix goes by rank order, but between ranks of the node or group of rank " + std::to_string(r) +
               " there is rank " + std::to_string(r - 1) + " of another: each must have consecutive ranks";
  return {};
}

/// The last ranks of the units that `level` joins in the group of `rank`.
inline std::vector<Rank> last_ranks(const Nodes& nodes, int level, Rank rank) {
  std::vector<Rank> ranks;
  for (Rank unit : nodes.units(level, nodes.group(level, nodes.unit(level, rank)))) {
    for (int below = level; below > 0; --below) unit = nodes.units(below - 1, unit).back();
    ranks.push_back(unit);
  }
  return ranks;
}

/// `message`, of the last rank of the group, comes into scratch of the others, along a binomial tree.
inline Ranges told_by_last(Builder& b, const std::vector<Rank>& ranks, Ranges message) {
  b.round();
  b.in_group(ranks, [&](Builder& group) {
    const KnomialPlace tree(group, group.ranks() - 1, 2);
    if (tree.v != 0) {
      message = scratch(group.new_scratch(0, 1));
      group.receive(tree.parent(), message);
    }
    for (std::int64_t step = tree.end / 2; step > 0; step /= 2) {
      group.round();
      tree.for_each_child(step, [&](Rank child, Rank) { group.send(tree.rank_of(child), message); });
    }
  });
  return message;
}

/// The reduction of all ranks before my unit of `level`, whose last rank I am and whose total stands in `total`; that
/// of the last rank of all is not read. Empty for the first unit.
inline Ranges prefix_of_unit(Builder& b, const Nodes& nodes, int level, const Ranges& total) {
  const std::vector<Rank> ranks = last_ranks(nodes, level, b.rank());
  const Rank unit = nodes.unit(level, b.rank());
  Ranges inner;  // over the units of the group
  if (nodes.place(level, unit) > 0) inner = scratch(b.new_scratch(0, 1));
  b.round();
  b.in_group(ranks, [&](Builder& group) {
    doubling_exscan(group, shift_rounds(group.ranks(), fewest_inclusive(group.ranks())), total, inner);
  });
  if (level + 1 == nodes.levels()) return inner;
  Ranges outer;
  if (b.rank() == ranks.back()) {
    Ranges all = total;
    if (!inner.empty() && b.rank() + 1 < b.ranks()) {
      all = scratch(b.new_scratch(0, 1));
      b.round();
      b.reduce(inner, all, Side::left, total);
    }
    outer = prefix_of_unit(b, nodes, level + 1, all);
  }
  if (nodes.group(level, unit) == 0) return inner;
  outer = told_by_last(b, ranks, outer);
  if (inner.empty()) return outer;
  b.round();
  b.reduce(outer, inner, Side::left, inner);
  return inner;
}

/// Rounds, or vectors along the longest chain, of prefix_of_unit() on level 1 and the levels above; bounds where there
/// are further ones.
inline std::int64_t prefix_rounds(const Nodes& nodes) {
  std::int64_t rounds = 0;
  for (int level = 1; level < nodes.levels(); ++level)
    rounds += ceil_log2(nodes.largest(level)) * (level + 1 < nodes.levels() ? 2 : 1);
  return rounds;
}
inline std::int64_t prefix_combined(const Nodes& nodes) {
  std::int64_t vectors = 0;
  for (int level = 1; level < nodes.levels(); ++level) {
    const Rank n = nodes.largest(level);
    vectors += doubling_exscan_combined(n, shift_rounds(n, fewest_inclusive(n)));
    if (level + 1 < nodes.levels() && n > 1) vectors += 2;
  }
  return vectors;
}

/// What both kinds of scans do on the nodes besides.
struct ScanCost {
  Rank n;        ///< ranks of the largest node
  bool several;  ///< nodes
  std::int64_t rounds, sent, above;

  ScanCost(const Shape& shape, const Params& params) {
    const Nodes nodes(shape.ranks, params.list, 0);
    n = nodes.largest(0);
    several = nodes.smallest(0) < shape.ranks;
    rounds = prefix_rounds(nodes) + (n > 1 ? (several ? 2 : 1) : 0);
    sent = prefix_rounds(nodes) + (n - 1) * (several ? 2 : 1);
    above = prefix_combined(nodes);
  }
};

/// `at_most` of scans.
inline bool uneven_or_more_levels(const Shape& shape, const Params& params) {
  return params.list.size() > static_cast<std::size_t>(shape.ranks) || uneven_nodes(shape, params);
}

}  // namespace stretto::patterns

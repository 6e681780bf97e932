// SPDX-License-Identifier: BSD-3-Clause
//
// One rank of each node, its leader, drives the network: a tree that is a star on every node, and above the nodes,
// level by level, a tree of leaders. The root leads its node; other nodes are led by their lowest ranks.
#pragma once

#include <vector>

#include "algorithms/patterns/in_order.hpp"
#include "algorithms/patterns/knomial.hpp"
#include "algorithms/patterns/nodes.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// What a rank has to do with others, in the order of a broadcast.
struct LeaderPlace {
  Rank parent = no_rank;                    ///< of the topmost
  std::vector<std::vector<Rank>> children;  ///< those served in the first round, in the second, …
};

class Leaders {
 public:
  /// `radix` of the trees of leaders; 1: chains.
  Leaders(const Shape& shape, const Params& params, Rank root, std::int64_t radix)
      : nodes_(shape.ranks, params.list, root),
        radix_(radix) {}

  const Nodes& nodes() const { return nodes_; }
  int top() const { return nodes_.levels() - 1; }
  /// The ranks that lead all that the level joins in the group of `rank`; the topmost is first.
  std::vector<Rank> at(int level, Rank rank) const {
    const std::vector<Rank> leads(static_cast<std::size_t>(level), 0);
    std::vector<Rank> ranks;
    for (const Rank unit : nodes_.units(level, nodes_.group(level, nodes_.unit(level, rank))))
      ranks.push_back(nodes_.rank_in(level, unit, leads));
    return ranks;
  }
  /// In the tree of the lowest `levels` levels.
  LeaderPlace place(Rank rank, int levels) const {
    int highest = 0;  // the level on which the rank does not lead, or the last
    while (highest < levels - 1 && nodes_.place(highest, nodes_.unit(highest, rank)) == 0) ++highest;
    LeaderPlace all;
    for (int level = std::min(highest, levels - 1); level >= 0; --level) {
      LeaderPlace here = in_group(at(level, rank), nodes_.place(level, nodes_.unit(level, rank)), level);
      if (level == highest) all.parent = here.parent;
      for (auto& round : here.children) all.children.push_back(std::move(round));
    }
    return all;
  }
  LeaderPlace place(Rank rank) const { return place(rank, nodes_.levels()); }
  /// The rank and all below it, each before those below itself.
  std::vector<Rank> subtree(Rank rank) const {
    std::vector<Rank> all{rank};
    for (const auto& round : place(rank).children)
      for (const Rank child : round)
        for (const Rank below : subtree(child)) all.push_back(below);
    return all;
  }

 private:
  LeaderPlace in_group(const std::vector<Rank>& ranks, Rank place, int level) const {
    const auto n = static_cast<Rank>(ranks.size());
    const auto rank_at = [&](Rank v) { return ranks[static_cast<std::size_t>(v)]; };
    LeaderPlace here;
    if (level > 0 && radix_ == 1) {
      if (place > 0) here.parent = rank_at(place - 1);
      if (place + 1 < n) here.children.push_back({rank_at(place + 1)});
      return here;
    }
    const KnomialPlace tree(place, n, level == 0 ? n : radix_);
    if (place > 0) here.parent = rank_at(tree.parent());
    for (std::int64_t step = tree.end / tree.radix; step > 0; step /= tree.radix) {
      std::vector<Rank> round;
      tree.for_each_child(step, [&](Rank child, Rank) { round.push_back(rank_at(child)); });
      if (!round.empty()) here.children.push_back(std::move(round));
    }
    return here;
  }

  Nodes nodes_;
  std::int64_t radix_;
};

/// Block 0 comes from the topmost into all outputs.
inline void leaders_bcast(Builder& b, const LeaderPlace& place) {
  b.round();
  if (place.parent != no_rank) b.receive(place.parent, output(0));
  for (const auto& round : place.children) {
    b.round();
    for (const Rank child : round) b.send(child, output(0));
  }
}

/// The tree upwards, for in_order_reduce().
inline InOrderPlace upwards(const LeaderPlace& place) {
  return {{place.children.rbegin(), place.children.rend()}, place.parent};
}

/// Blocks along the longest chain when those of whole subtrees go up to `rank`, or down from it.
inline std::int64_t gathered_blocks(const Leaders& leaders, Rank rank) {
  const InOrderPlace place = upwards(leaders.place(rank));
  std::int64_t chain = 0;
  for (const auto& round : place.children) {
    std::int64_t arriving = 0;
    for (const Rank child : round) {
      chain = std::max(chain, gathered_blocks(leaders, child));
      arriving += static_cast<std::int64_t>(leaders.subtree(child).size());
    }
    chain += arriving;
  }
  return chain;
}
inline std::int64_t scattered_blocks(const Leaders& leaders, Rank rank) {
  std::int64_t begin = 0, chain = 0;
  for (const auto& round : leaders.place(rank).children) {
    std::int64_t leaving = 0;
    for (const Rank child : round) {
      const auto blocks = static_cast<std::int64_t>(leaders.subtree(child).size());
      chain = std::max(chain, begin + blocks + scattered_blocks(leaders, child));
      leaving += blocks;
    }
    begin += leaving;
  }
  return std::max(chain, begin);
}

/// Rounds or vectors along the longest chain of a tree of that many leaders.
inline std::int64_t leader_rounds(Rank leaders, std::int64_t radix) {
  return radix == 1 ? leaders - 1 : ceil_log(leaders, radix);
}
inline std::int64_t leader_vectors(Rank leaders, std::int64_t radix) {
  return radix == 1 ? leaders - 1 : knomial_sent(leaders, radix);
}

/// The sum of `each(largest group)` over the levels of leaders below `end`.
template <typename Each>
std::int64_t over_leaders(const Nodes& nodes, int end, Each each) {
  std::int64_t sum = 0;
  for (int level = 1; level < end; ++level) sum += each(nodes.largest(level));
  return sum;
}

/// Rounds of the whole tree, and vectors along its longest chain.
inline std::int64_t leaders_rounds(const Shape& shape, const Params& params, std::int64_t radix) {
  const Nodes nodes(shape.ranks, params.list, shape.root);
  return (nodes.largest(0) > 1 ? 1 : 0) +
         over_leaders(nodes, nodes.levels(), [&](Rank n) { return leader_rounds(n, radix); });
}
inline std::int64_t leaders_vectors(const Shape& shape, const Params& params, std::int64_t radix) {
  const Nodes nodes(shape.ranks, params.list, shape.root);
  return nodes.largest(0) - 1 + over_leaders(nodes, nodes.levels(), [&](Rank n) { return leader_vectors(n, radix); });
}

}  // namespace stretto::patterns

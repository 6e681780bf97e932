// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks of a node drive the network, each with its slice of the vector: the ranks that own a slice on their nodes
// form its lane. A level joins the lane's ranks in one group; those that own a part of the slice go on to the next
// level with it, and there are as many parts as the smallest group of the level has units. So every level carries each
// block as seldom as it can.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/patterns/circulant.hpp"
#include "algorithms/patterns/linear.hpp"
#include "algorithms/patterns/nodes.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// `default_value` of the parameter "lanes": the ranks of the smallest node.
inline std::int64_t default_lanes(const Shape& shape) {
  if (shape.nodes.size() % static_cast<std::size_t>(shape.ranks) != 0) return 1;  // which nodes_misfit() will refuse
  return Nodes(shape.ranks, shape.nodes.empty() ? default_nodes(shape.ranks) : shape.nodes, 0).smallest(0);
}

/// So many places of a group own something on this level.
inline Rank owners(const Nodes& nodes, int level, std::int64_t lanes) {
  const Rank smallest = nodes.smallest(level);
  return level > 0 ? smallest : static_cast<Rank>(std::min<std::int64_t>(lanes, smallest));
}

/// `blocks` of algorithms that cut the vector for the lanes: the product of all levels' owners.
inline Block lane_blocks(const Shape& shape, const Params& params) {
  const Nodes nodes(shape.ranks, params.list, shape.root);
  Block blocks = 1;
  for (int level = 0; level < nodes.levels(); ++level) blocks *= owners(nodes, level, params.value);
  return blocks;
}

/// What a rank has to do with others on one level.
struct LaneLevel {
  std::vector<Rank> ranks;  ///< of its group, in the order of their places
  Rank place;               ///< mine
  Rank owners;              ///< the first so many own a part each
  Block first, width;       ///< the parts begin at block `first` and have `width` blocks
  bool with_root;           ///< is the root's unit among the units? It has place 0

  bool owner() const { return place < owners; }
  Ranges part(Rank of, Buffer buffer, Block shift = 0) const {
    if (of >= owners) return {};
    return {{buffer, first + of * width - shift, width}};
  }
};

/// The ranks that take part with `rank`, whose unit on `level` is `unit`: those with its places on the levels below.
inline std::vector<Rank> lane_ranks(const Nodes& nodes, int level, Rank unit, const std::vector<Rank>& places) {
  std::vector<Rank> ranks;
  for (const Rank other : nodes.units(level, nodes.group(level, unit)))
    ranks.push_back(nodes.rank_in(level, other, places));
  return ranks;
}

/// The levels on which `rank` takes part, the innermost first: all on which it owns a part, and one more.
inline std::vector<LaneLevel> lane_levels(const Shape& shape, const Params& params, Rank rank) {
  const Nodes nodes(shape.ranks, params.list, shape.root);
  std::vector<LaneLevel> levels;
  std::vector<Rank> places;
  Block first = 0, width = lane_blocks(shape, params);
  for (int level = 0; level < nodes.levels(); ++level) {
    const Rank unit = nodes.unit(level, rank);
    const Rank n = owners(nodes, level, params.value);
    width /= n;
    levels.push_back({lane_ranks(nodes, level, unit, places), nodes.place(level, unit), n, first, width,
                      nodes.group(level, unit) == 0});
    places.push_back(levels.back().place);
    if (!levels.back().owner()) break;
    first += levels.back().place * width;
  }
  return levels;
}

/// Reduces all vectors until each part of the last level is complete on its owner. Partial results stand in `work`,
/// which begins with block `shift`.
inline void lanes_reduce_scatter(Builder& b, const std::vector<LaneLevel>& levels, Buffer work, Block shift) {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LaneLevel& at = levels[i];
    b.round();
    b.in_group(at.ranks, [&](Builder& group) {
      if (i > 0) return circulant_reduce_scatter_parts(group, [&](Rank of) { return at.part(of, work, shift); });
      for_each_other(group, [&](Rank to, Rank) {
        if (to < at.owners) group.send(to, at.part(to, Buffer::input));
      });
      if (at.owner())
        combine_in_rank_order(group, group.ranks(), at.part(at.place, Buffer::input), at.part(at.place, work, shift));
    });
  }
}

/// The way back: complete parts come from their owners into all outputs. `root_has` is set where the root's output is
/// full from the beginning.
inline void lanes_allgather(Builder& b, const std::vector<LaneLevel>& levels, bool root_has) {
  for (std::size_t i = levels.size(); i-- > 0;) {
    const LaneLevel& at = levels[i];
    b.round();
    b.in_group(at.ranks, [&](Builder& group) {
      if (i > 0) return circulant_allgather_parts(group, [&](Rank of) { return at.part(of, Buffer::output); });
      const Rank full = root_has && at.with_root ? 0 : no_rank;  // who needs nothing
      for_each_other(group, [&](Rank to, Rank from) {
        if (at.owner() && to != full) group.send(to, at.part(at.place, Buffer::output));
        if (from < at.owners && at.place != full) group.receive(from, at.part(from, Buffer::output));
      });
    });
  }
}

/// Rounds of one way, and what goes over the levels above the nodes, in blocks along the longest chain.
struct LaneCost {
  std::int64_t node;    ///< is there anything to do on a node?
  std::int64_t rounds;  ///< above
  std::int64_t blocks;  ///< above
  Block slice;          ///< blocks
  Rank largest, lanes;  ///< ranks of the largest node, and owners

  LaneCost(const Shape& shape, const Params& params) {
    const Nodes nodes(shape.ranks, params.list, shape.root);
    largest = nodes.largest(0);
    lanes = owners(nodes, 0, params.value);
    node = largest > 1 ? 1 : 0;
    slice = lane_blocks(shape, params) / lanes;
    rounds = blocks = 0;
    Block width = slice;
    for (int level = 1; level < nodes.levels(); ++level) {
      width /= nodes.smallest(level);
      rounds += ceil_log2(nodes.largest(level));
      blocks += (nodes.largest(level) - 1) * width;
    }
  }
};

}  // namespace stretto::patterns

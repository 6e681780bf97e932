// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/lanes: each rank of a node reduces its slice there, its lane then over all nodes; the slices go to the root.
//
//   rounds    2 on the nodes and 2 ceil(lg N) from node to node, for N nodes
//   volume    2(n-1)/n of the vector on a node of n ranks, 2(N-1)/N in and out of every node
//   combined  (p-1)/p of the vector
//   scratch   up to two slices
//   needs     a commutative operator
//   source    full-lane reduce (Träff and Hunold, arXiv 1910.13373); the circulant graph of Träff, arXiv 2410.14234
//
// The lanes scatter their slices while they reduce them, and binomial trees gather them on the root's node. "nodes" and
// "lanes" are as in allreduce/lanes.
//
//   nodes=0:0:1:1, root 0   0↔1 2↔3 [slices]   0↔2 1↔3 [halves of them]   2→0 3→1 [halves]   1→0 [slice 1]

#include "algorithms/patterns/lanes.hpp"

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::reduce_lanes {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const auto levels = patterns::lane_levels(shape, params, b.rank());
  const bool root = b.rank() == shape.root;
  const patterns::LaneLevel& node = levels[0];
  const Buffer work = root ? Buffer::output : Buffer::scratch;
  const Block shift = root ? 0 : node.first + node.place * node.width;
  if (!root && node.owner()) b.new_scratch(shift, node.width);
  patterns::lanes_reduce_scatter(b, levels, work, shift);
  for (std::size_t i = levels.size(); i-- > 0;) {
    const patterns::LaneLevel& at = levels[i];
    if (!at.with_root) continue;
    const auto part = [&](Rank of) { return at.part(of, work, shift); };
    b.round();
    b.in_group(at.ranks, [&](Builder& group) {
      if (i > 0) return patterns::binomial_parts(group, true, part);
      if (at.place > 0 && at.owner()) group.send(0, part(at.place));
      for (Rank from = 1; at.place == 0 && from < at.owners; ++from) group.receive(from, part(from));
    });
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce/lanes",
    .summary = "each rank reduces a slice on its node, then over all nodes; the slices meet at the root",
    .source = "Träff and Hunold, arXiv 1910.13373; Träff, arXiv 2410.14234",
    .volume = "2(n-1)/n on the node, 2(N-1)/(Nn) between N nodes of n ranks",
    .collective = Collective::reduce,
    .needs = {.commutative = true},
    .parameter = {.name = "lanes", .least = 1, .default_value = patterns::default_lanes},
    .list = "nodes",
    .blocks = patterns::lane_blocks,
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      const patterns::LaneCost cost(s, params);
      return cost.node + (cost.lanes > 1 ? 1 : 0) + 2 * cost.rounds;
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      const patterns::LaneCost cost(s, params);
      return (cost.largest - 1 + cost.lanes - 1) * cost.slice + 2 * cost.blocks;
    },
    .combined = [](const Shape& s, const Params& params) -> std::int64_t {
      const patterns::LaneCost cost(s, params);
      return (cost.largest - 1) * cost.slice + cost.blocks;
    },
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = patterns::uneven_nodes,
};

}  // namespace stretto::algorithms::reduce_lanes

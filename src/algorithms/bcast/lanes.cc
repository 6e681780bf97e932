// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/lanes: the root hands slices to its node's ranks; each slice is scattered and gathered over the nodes, then on
// them.
//
//   rounds    2 on the nodes and 2 ceil(lg N) from node to node, for N nodes
//   volume    2(n-1)/n of the vector on a node of n ranks, 2(N-1)/N in and out of every node
//   combined  none
//   scratch   none
//   needs     nothing
//   source    full-lane bcast (Träff and Hunold, arXiv 1910.13373); the circulant graph of Träff, arXiv 2410.14234
//
// van de Geijn's algorithm in every lane: a binomial tree scatters its slice over the nodes, doubling on a circulant
// graph brings the parts together. "nodes" and "lanes" are as in allreduce/lanes.
//
//   nodes=0:0:1:1, root 0   0→1 [slice 1]   0→2 1→3 [a half of their slices]   0↔2 1↔3 [halves]   2↔3 [slices]

#include "algorithms/patterns/lanes.hpp"

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::bcast_lanes {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const auto levels = patterns::lane_levels(shape, params, b.rank());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const patterns::LaneLevel& at = levels[i];
    if (!at.with_root) continue;
    const auto part = [&](Rank of) { return at.part(of, Buffer::output); };
    b.round();
    b.in_group(at.ranks, [&](Builder& group) {
      if (i > 0) return patterns::binomial_parts(group, false, part);
      if (at.place > 0 && at.owner()) group.receive(0, part(at.place));
      for (Rank to = 1; at.place == 0 && to < at.owners; ++to) group.send(to, part(to));
    });
  }
  patterns::lanes_allgather(b, levels, true);
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/lanes",
    .summary =
        "slices go to the ranks of the root's node, through the nodes in lanes, and are put together on each node",
    .source = "Träff and Hunold, arXiv 1910.13373; Träff, arXiv 2410.14234",
    .volume = "2(n-1)/n on the node, 2(N-1)/(Nn) between N nodes of n ranks",
    .collective = Collective::bcast,
    .needs = {},
    .parameter = {.name = "lanes", .least = 1, .default_value = patterns::default_lanes},
    .list = "nodes",
    .blocks = patterns::lane_blocks,
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      const patterns::LaneCost cost(s, params);
      return (cost.lanes > 1 ? 1 : 0) + cost.node + 2 * cost.rounds;
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      const patterns::LaneCost cost(s, params);
      return (cost.lanes - 1 + cost.largest - 1) * cost.slice + 2 * cost.blocks;
    },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = patterns::uneven_nodes,
};

}  // namespace stretto::algorithms::bcast_lanes

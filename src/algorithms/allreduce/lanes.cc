// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/lanes: each rank of a node reduces its slice there, its lane then over all nodes, and back.
//
//   rounds    2 on the nodes and 2 ceil(lg N) from node to node, for N nodes
//   volume    2(n-1)/n of the vector on a node of n ranks, 2(N-1)/N in and out of every node: the least possible
//   combined  (p-1)/p of the vector
//   scratch   a slice, if nodes have more than two ranks
//   needs     a commutative operator
//   source    full-lane allreduce (Träff and Hunold, arXiv 1910.13373); the circulant graph of Träff, arXiv 2410.14234
//
// All of a node is direct, all between nodes on a circulant graph. The list "nodes" says which node each rank is on;
// with further levels a lane is cut again in every group of nodes, so that switches carry as little as nodes do. The
// parameter "lanes" is the number of slices, at most the ranks of the smallest node: 1 makes one rank a leader.
//
//   nodes=0:0:1:1   0↔1 2↔3 [slices]   0↔2 [2 blocks of slice 0, one each] 1↔3 [of slice 1]   and back

#include "algorithms/patterns/lanes.hpp"

#include "algorithms/list.hpp"

namespace stretto::algorithms::allreduce_lanes {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const auto levels = patterns::lane_levels(shape, params, b.rank());
  patterns::lanes_reduce_scatter(b, levels, Buffer::output, 0);
  patterns::lanes_allgather(b, levels, false);
}

std::int64_t volume(const Shape& s, const Params& params) {
  const patterns::LaneCost cost(s, params);
  return (cost.largest - 1) * cost.slice + cost.blocks;
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/lanes",
    .summary = "each rank reduces a slice on its node, then over all nodes, and back; least volume on every level",
    .source = "Träff and Hunold, arXiv 1910.13373; Träff, arXiv 2410.14234",
    .volume = "2(n-1)/n on the node, 2(N-1)/(Nn) between N nodes of n ranks",
    .collective = Collective::allreduce,
    .needs = {.commutative = true},
    .parameter = {.name = "lanes", .least = 1, .default_value = patterns::default_lanes},
    .list = "nodes",
    .blocks = patterns::lane_blocks,
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      const patterns::LaneCost cost(s, params);
      return 2 * (cost.node + cost.rounds);
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t { return 2 * volume(s, params); },
    .combined = volume,
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = patterns::uneven_nodes,
};

}  // namespace stretto::algorithms::allreduce_lanes

// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/lanes: the ranks of a lane, one of each node, exchange their blocks, and then those of a node what they
// got.
//
//   rounds    ceil(lg N) for N nodes, and 1 on them; 1 more where nodes have more ranks than lanes
//   volume    (p-1)/p of the gathered vector, of it (N-1)/p between nodes; more where nodes have more ranks than lanes
//   combined  none
//   scratch   none
//   needs     nothing
//   source    full-lane allgather (Träff and Hunold, arXiv 1910.13373); the circulant graph of Träff, arXiv 2410.14234
//
// Lanes exchange by doubling on a circulant graph, nodes directly. The list "nodes" says which node each rank is on;
// with further levels, lanes of the groups' lanes exchange first. "lanes" is at most the ranks of the smallest node;
// the ranks beyond hand their blocks to a rank of their node. With lanes=1 that is a leader.
//
//   nodes=0:0:1:1   0↔2 1↔3 [own]   0↔1 [0 2] [1 3] 2↔3 [0 2] [1 3]

#include "algorithms/list.hpp"
#include "algorithms/patterns/lane_bundles.hpp"

namespace stretto::algorithms::allgather_lanes {
namespace {

using Blocks = std::vector<Rank>;

Ranges outputs(const Blocks& blocks) {
  Ranges ranges;
  for (const Rank block : blocks) ranges.push_back({Buffer::output, block, 1});
  return ranges;
}

void build(Builder& b, const Shape& shape, const Params& params) {
  const auto levels = patterns::bundle_levels(shape, params, b.rank());
  b.copy(input(b.rank()), output(b.rank()));
  for (const patterns::BundleLevel& at : levels) {
    b.round();
    patterns::for_each_handing(at, [&](Rank peer, const Blocks& blocks) {
      at.owner() ? b.receive(peer, outputs(blocks)) : b.send(peer, outputs(blocks));
    });
  }
  for (std::size_t i = levels.size(); i-- > 0;) {
    const patterns::BundleLevel& at = levels[i];
    const auto part = [&](Rank of) {
      return of < at.owners ? outputs(at.parts[static_cast<std::size_t>(of)]) : Ranges{};
    };
    b.round();
    b.in_group(at.ranks, [&](Builder& group) {
      if (i > 0) return patterns::circulant_allgather_parts(group, part);
      patterns::for_each_other(group, [&](Rank to, Rank from) {
        if (at.owner()) group.send(to, part(at.place));
        if (from < at.owners) group.receive(from, part(from));
      });
    });
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/lanes",
    .summary = "ranks in the same place of all nodes exchange their blocks, then the ranks of each node what they got",
    .source = "Träff and Hunold, arXiv 1910.13373; Träff, arXiv 2410.14234",
    .volume = "(p-1)/p, of it (N-1)/p between N nodes",
    .collective = Collective::allgather,
    .needs = {},
    .parameter = {.name = "lanes", .least = 1, .default_value = patterns::default_lanes},
    .list = "nodes",
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::BundleCost(s, params).rounds;
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t { return patterns::BundleCost(s, params).sent(); },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = patterns::uneven_nodes,
};

}  // namespace stretto::algorithms::allgather_lanes

// SPDX-License-Identifier: BSD-3-Clause
//
// reduce_scatter/lanes: each rank of a node combines there the blocks of its lane, then the lane reduces and scatters
// them.
//
//   rounds    1 on the nodes, and ceil(lg N) for N nodes; 1 more where nodes have more ranks than lanes
//   volume    (p-1)/p of the vector, of it (N-1)/p between nodes; more where nodes have more ranks than lanes
//   combined  (p-1)/p of the vector
//   scratch   up to two bundles: p/n blocks each on nodes of n ranks
//   needs     a commutative operator
//   source    full-lane reduce-scatter (Träff and Hunold, arXiv 1910.13373); the circulant graph of arXiv 2410.14234
//
// allgather/lanes backwards: "nodes" and "lanes" are as there.
//
//   nodes=0:0:1:1   0↔1 [1 3] [0 2] 2↔3 [1 3] [0 2]   0↔2 1↔3 [the other's]

#include <algorithm>

#include "algorithms/list.hpp"
#include "algorithms/patterns/lane_bundles.hpp"

namespace stretto::algorithms::reduce_scatter_lanes {
namespace {

using Blocks = std::vector<Rank>;

Ranges inputs(const Blocks& blocks) {
  Ranges ranges;
  for (const Rank block : blocks) ranges.push_back({Buffer::input, block, 1});
  return ranges;
}

/// A place in scratch for each block of a lane.
class Work {
 public:
  Work(Builder& b, const patterns::BundleLevel& node) {
    if (!node.owner()) return;
    blocks_ = &node.parts[static_cast<std::size_t>(node.place)];  // rising
    for (const Rank block : *blocks_) b.new_scratch(block, 1);
  }
  Ranges at(const Blocks& blocks) const {
    Ranges ranges;
    for (const Rank block : blocks)
      ranges.push_back({Buffer::scratch, std::ranges::lower_bound(*blocks_, block) - blocks_->begin(), 1});
    return ranges;
  }

 private:
  const Blocks* blocks_ = nullptr;
};

void build(Builder& b, const Shape& shape, const Params& params) {
  const auto levels = patterns::bundle_levels(shape, params, b.rank());
  const patterns::BundleLevel& node = levels[0];
  const Work work(b, node);
  b.in_group(node.ranks, [&](Builder& group) {
    const auto part = [&](Rank of) -> const Blocks& { return node.parts[static_cast<std::size_t>(of)]; };
    patterns::for_each_other(group, [&](Rank to, Rank) {
      if (to < node.owners) group.send(to, inputs(part(to)));
    });
    if (!node.owner()) return;
    // All of them as one range of scratch, where partial results may stand.
    const auto count = static_cast<Block>(part(node.place).size());
    patterns::combine_in_rank_order(group, group.ranks(), inputs(part(node.place)), scratch(0, count));
  });
  for (std::size_t i = 1; i < levels.size(); ++i)
    b.in_group(levels[i].ranks, [&](Builder& group) {
      patterns::circulant_reduce_scatter_parts(group, [&](Rank of) {
        return of < levels[i].owners ? work.at(levels[i].parts[static_cast<std::size_t>(of)]) : Ranges{};
      });
    });
  for (std::size_t i = levels.size(); i-- > 0;) {
    b.round();
    patterns::for_each_handing(levels[i], [&](Rank peer, const Blocks& blocks) {
      levels[i].owner() ? b.send(peer, work.at(blocks)) : b.receive(peer, i > 0 ? work.at(blocks) : output(b.rank()));
    });
  }
  if (node.owner()) b.copy(work.at({b.rank()}), output(b.rank()));
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce_scatter/lanes",
    .summary =
        "each rank combines the blocks of its place in all nodes on its own, then with those places; least volume",
    .source = "Träff and Hunold, arXiv 1910.13373; Träff, arXiv 2410.14234",
    .volume = "(p-1)/p, of it (N-1)/p between N nodes",
    .collective = Collective::reduce_scatter,
    .needs = {.commutative = true},
    .parameter = {.name = "lanes", .least = 1, .default_value = patterns::default_lanes},
    .list = "nodes",
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::BundleCost(s, params).rounds;
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t { return patterns::BundleCost(s, params).sent(); },
    .combined = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::BundleCost(s, params).combined;
    },
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = patterns::uneven_nodes,
};

}  // namespace stretto::algorithms::reduce_scatter_lanes

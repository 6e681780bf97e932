// SPDX-License-Identifier: BSD-3-Clause
//
// scan/leaders: prefixes on every node; the last ranks of nodes find what comes before them and tell their nodes.
//
//   rounds    2 on the nodes, and ceil(lg N) for N nodes
//   volume    2(n-1) vectors on a node of n ranks, and ceil(lg N) between nodes
//   combined  n vectors on a node, and those of exscan/doubling on N ranks
//   scratch   up to four vectors, and more with further levels
//   needs     nothing but nodes of consecutive ranks: rank order is kept
//   source    the levels as in Karonis et al. 2000; prefixes over nodes as in Träff, arXiv 2507.04785
//
// On a node all is direct. The list "nodes" says which node each rank is on; with further levels prefixes are found in
// every group, then over the groups.
//
//   nodes=0:0:1:1   0→1 2→3   1→3 [0 1]   3→2 [0 1]

#include "algorithms/patterns/leader_scan.hpp"

#include "algorithms/list.hpp"
#include "algorithms/patterns/linear.hpp"

namespace stretto::algorithms::scan_leaders {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::Nodes nodes(shape.ranks, params.list, 0);
  const std::vector<Rank>& node = nodes.units(0, nodes.group(0, b.rank()));
  b.in_group(node, [](Builder& group) {
    for (Rank to = group.rank() + 1; to < group.ranks(); ++to) group.send(to, input(0));
    patterns::combine_in_rank_order(group, group.rank() + 1, input(0), output(0));
  });
  const bool leader = b.rank() == node.back();
  const Ranges prefix = leader ? patterns::prefix_of_unit(b, nodes, 1, output(0)) : Ranges{};
  if (node.front() == 0) return;
  b.round();
  if (!leader) return b.receive_reduce(node.back(), output(0), Side::left);
  for (const Rank rank : node)
    if (rank != b.rank()) b.send(rank, prefix);
  b.reduce(prefix, output(0), Side::left, output(0));
}

}  // namespace

constinit const Algorithm record{
    .id = "scan/leaders",
    .summary = "prefixes on every node, then over the nodes by their last ranks, which tell their nodes",
    .source = "Karonis et al. 2000; Träff, arXiv 2507.04785",
    .volume = "2(n-1) on the node, ceil(lg N) between N nodes of n ranks",
    .collective = Collective::scan,
    .needs = {},
    .list = "nodes",
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t { return patterns::ScanCost(s, params).rounds; },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t { return patterns::ScanCost(s, params).sent; },
    .combined = [](const Shape& s, const Params& params) -> std::int64_t {
      const patterns::ScanCost cost(s, params);
      return cost.n - 1 + cost.above + (cost.several ? 1 : 0);
    },
    .build = build,
    .misfit = patterns::consecutive_nodes_misfit,
    .at_most = patterns::uneven_or_more_levels,
};

}  // namespace stretto::algorithms::scan_leaders

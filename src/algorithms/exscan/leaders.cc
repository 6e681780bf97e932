// SPDX-License-Identifier: BSD-3-Clause
//
// exscan/leaders: prefixes on every node; the last ranks of nodes find what comes before them and tell their nodes.
//
//   rounds    2 on the nodes, and ceil(lg N) for N nodes
//   volume    2(n-1) vectors on a node of n ranks, and ceil(lg N) between nodes
//   combined  n vectors on a node, and those of exscan/doubling on N ranks
//   scratch   up to five vectors, and more with further levels
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

namespace stretto::algorithms::exscan_leaders {
namespace {

/// The leader's: `before` is the reduction of the node's ranks before it, if there are any. Its input may be its
/// output, which is therefore written last. Returns that of all nodes before.
Ranges prefix_of_node(Builder& b, const patterns::Nodes& nodes, const Ranges& before) {
  Ranges total = input(0);
  if (!before.empty() && b.rank() + 1 < b.ranks()) {
    total = scratch(b.new_scratch(0, 1));
    b.round();
    b.reduce(before, total, Side::left, input(0));
  }
  return patterns::prefix_of_unit(b, nodes, 1, total);
}

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::Nodes nodes(shape.ranks, params.list, 0);
  const std::vector<Rank>& node = nodes.units(0, nodes.group(0, b.rank()));
  const bool leader = b.rank() == node.back();
  Ranges before;
  b.in_group(node, [&](Builder& group) {
    for (Rank to = group.rank() + 1; to < group.ranks(); ++to) group.send(to, input(0));
    if (group.rank() == 0) return;
    before = leader && b.rank() + 1 < shape.ranks ? scratch(b.new_scratch(0, 1)) : output(0);
    patterns::combine_in_rank_order(group, group.rank(), input(0), before);
  });
  const Ranges prefix = leader ? prefix_of_node(b, nodes, before) : Ranges{};
  b.round();
  if (node.front() == 0) return before.empty() ? void() : b.copy(before, output(0));
  if (!leader)
    return before.empty() ? b.receive(node.back(), output(0)) : b.receive_reduce(node.back(), output(0), Side::left);
  for (const Rank rank : node)
    if (rank != b.rank()) b.send(rank, prefix);
  before.empty() ? b.copy(prefix, output(0)) : b.reduce(prefix, output(0), Side::left, before);
}

}  // namespace

constinit const Algorithm record{
    .id = "exscan/leaders",
    .summary = "prefixes on every node, then over the nodes by their last ranks, which tell their nodes",
    .source = "Karonis et al. 2000; Träff, arXiv 2507.04785",
    .volume = "2(n-1) on the node, ceil(lg N) between N nodes of n ranks",
    .collective = Collective::exscan,
    .needs = {},
    .list = "nodes",
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t { return patterns::ScanCost(s, params).rounds; },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t { return patterns::ScanCost(s, params).sent; },
    .combined = [](const Shape& s, const Params& params) -> std::int64_t {
      const patterns::ScanCost cost(s, params);
      if (cost.n == 1) return cost.above;
      return cost.several ? cost.n - 1 + cost.above + 1 : cost.n - 2;
    },
    .build = build,
    .misfit = patterns::consecutive_nodes_misfit,
    .at_most = patterns::uneven_or_more_levels,
};

}  // namespace stretto::algorithms::exscan_leaders

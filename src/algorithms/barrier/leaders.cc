// SPDX-License-Identifier: BSD-3-Clause
//
// barrier/leaders: the ranks of a node tell their leader; the leaders meet in a dissemination, then tell their nodes.
//
//   rounds    ceil(lg N) on N nodes, and 2 on them; with groups of G nodes 2 ceil(lg G) more, N being their number
//   volume    none: empty messages
//   combined  none
//   scratch   none
//   needs     nothing
//   source    trees that know the levels of the network: Karonis et al. 2000; Kielmann et al., PPoPP 1999 (MagPIe)
//
// The list "nodes" says which node each rank is on, and further levels which group each node is in.
//
//   nodes=0:0:1:1   1→0 3→2   0↔2   0→1 2→3

#include "algorithms/patterns/leaders.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::barrier_leaders {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::Leaders leaders(shape, params, 0, 2);
  const patterns::LeaderPlace place = leaders.place(b.rank(), leaders.top());
  for (auto round = place.children.rbegin(); round != place.children.rend(); ++round) {
    b.round();
    for (const Rank child : *round) b.receive(child, {});
  }
  b.round();
  if (place.parent == no_rank) {
    b.in_group(leaders.at(leaders.top(), b.rank()), [](Builder& top) {
      for (Rank distance = 1; distance < top.ranks(); distance *= 2) {
        top.round();
        top.send(patterns::modulo(top.rank() + distance, top.ranks()), {});
        top.receive(patterns::modulo(top.rank() - distance, top.ranks()), {});
      }
    });
  } else {
    b.send(place.parent, {});
    b.round();
    b.receive(place.parent, {});
  }
  for (const auto& round : place.children) {
    b.round();
    for (const Rank child : round) b.send(child, {});
  }
}

std::int64_t rounds(const Shape& s, const Params& params) {
  const patterns::Nodes nodes(s.ranks, params.list, 0);
  const int top = nodes.levels() - 1;
  return (nodes.largest(0) > 1 ? 2 : 0) +
         2 * patterns::over_leaders(nodes, top, [](Rank n) { return patterns::ceil_log2(n); }) +
         patterns::ceil_log2(nodes.largest(top));
}

}  // namespace

constinit const Algorithm record{
    .id = "barrier/leaders",
    .summary = "the ranks of a node tell its leader, and the leaders meet in a dissemination",
    .source = "Karonis et al. 2000; Kielmann et al., PPoPP 1999",
    .volume = "0",
    .collective = Collective::barrier,
    .needs = {},
    .list = "nodes",
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = rounds,
    .sent = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = patterns::uneven_nodes,
};

}  // namespace stretto::algorithms::barrier_leaders

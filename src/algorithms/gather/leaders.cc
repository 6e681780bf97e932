// SPDX-License-Identifier: BSD-3-Clause
//
// gather/leaders: each leader collects the blocks of its node; these go up a binomial tree of leaders to the root.
//
//   rounds    1 on the nodes, and ceil(lg N) for N nodes; with groups of G nodes ceil(lg G) more, N being their number
//   volume    (p-1)/p of the gathered vector: the least possible; more where one node is larger than the root's
//   combined  none
//   scratch   the blocks of the subtree but the own, on leaders but the root
//   needs     nothing
//   source    trees that know the levels of the network: Karonis et al. 2000; Kielmann et al., PPoPP 1999 (MagPIe)
//
// The root leads its node, and the lowest ranks the others. The list "nodes" says which node each rank is on.
//
//   nodes=0:0:1:1, root 1   0→1 3→2   2→1 [2 3]

#include "algorithms/patterns/leaders.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::gather_leaders {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::Leaders leaders(shape, params, shape.root, 2);
  const patterns::LeaderPlace place = leaders.place(b.rank());
  const bool root = place.parent == no_rank;
  if (root) b.copy(input(b.rank()), output(b.rank()));
  Ranges mine = input(b.rank());
  for (auto round = place.children.rbegin(); round != place.children.rend(); ++round) {
    b.round();
    Ranges arrived;
    for (const Rank child : *round) {
      Ranges blocks;
      for (const Rank rank : leaders.subtree(child))
        blocks.push_back(root ? Range{Buffer::output, rank, 1} : Range{Buffer::scratch, b.new_scratch(rank, 1), 1});
      b.receive(child, blocks);
      arrived.insert(arrived.end(), blocks.begin(), blocks.end());
    }
    mine.insert(mine.begin() + 1, arrived.begin(), arrived.end());  // as in subtree(): what came last is first
  }
  b.round();
  if (!root) b.send(place.parent, mine);
}

}  // namespace

constinit const Algorithm record{
    .id = "gather/leaders",
    .summary = "one leader for each node collects its ranks' blocks, which go up a binomial tree of leaders",
    .source = "Karonis et al. 2000; Kielmann et al., PPoPP 1999",
    .volume = "(p-1)/p",
    .collective = Collective::gather,
    .needs = {},
    .list = "nodes",
    .forwards = true,
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::leaders_rounds(s, params, 2);
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::gathered_blocks(patterns::Leaders(s, params, s.root, 2), s.root);
    },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = patterns::uneven_nodes,
};

}  // namespace stretto::algorithms::gather_leaders

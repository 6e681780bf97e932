// SPDX-License-Identifier: BSD-3-Clause
//
// scatter/leaders: the blocks of whole nodes go down a binomial tree of leaders, which hand them out.
//
//   rounds    ceil(lg N) for N nodes, and 1 on them; with groups of G nodes ceil(lg G) more, N being their number
//   volume    (p-1)/p of the scattered vector: the least possible; more where one node is larger than the root's
//   combined  none
//   scratch   the blocks of the subtree but the own, on leaders but the root
//   needs     nothing
//   source    trees that know the levels of the network: Karonis et al. 2000; Kielmann et al., PPoPP 1999 (MagPIe)
//
// The root leads its node, and the lowest ranks the others. The list "nodes" says which node each rank is on.
//
//   nodes=0:0:1:1, root 1   1→2 [2 3]   1→0 2→3

#include "algorithms/patterns/leaders.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::scatter_leaders {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::Leaders leaders(shape, params, shape.root, 2);
  const patterns::LeaderPlace place = leaders.place(b.rank());
  const bool root = place.parent == no_rank;
  Ranges all = output(b.rank());
  std::vector<std::vector<Ranges>> parts;  // of every round's children
  for (const auto& round : place.children) {
    parts.emplace_back();
    for (const Rank child : round) {
      Ranges blocks;
      for (const Rank rank : leaders.subtree(child))
        blocks.push_back(root ? Range{Buffer::input, rank, 1} : Range{Buffer::scratch, b.new_scratch(rank, 1), 1});
      all.insert(all.end(), blocks.begin(), blocks.end());
      parts.back().push_back(std::move(blocks));
    }
  }
  if (root)
    b.copy(input(b.rank()), output(b.rank()));
  else
    b.receive(place.parent, all);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 || !root) b.round();
    for (std::size_t k = 0; k < parts[i].size(); ++k) b.send(place.children[i][k], parts[i][k]);
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "scatter/leaders",
    .summary = "the blocks of whole nodes go down a binomial tree of one leader for each node, which hands them out",
    .source = "Karonis et al. 2000; Kielmann et al., PPoPP 1999",
    .volume = "(p-1)/p",
    .collective = Collective::scatter,
    .needs = {},
    .list = "nodes",
    .forwards = true,
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::leaders_rounds(s, params, 2);
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::scattered_blocks(patterns::Leaders(s, params, s.root, 2), s.root);
    },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = patterns::uneven_nodes,
};

}  // namespace stretto::algorithms::scatter_leaders

// SPDX-License-Identifier: BSD-3-Clause
//
// scatter/ordered_tree: intervals of ranks are split, and the half with less data leaves the rank that has all.
//
//   rounds    ceil(lg p), after the ceil(lg p) of an allgather of the p sizes
//   volume    in bytes about all but the root's part: what is large moves early, at best once
//   combined  none
//   scratch   the blocks of the others in the interval that the rank is given
//   needs     counts; to be worth it, different ones
//   source    Träff, arXiv 1702.05967
//
// The reverse of gather/ordered_tree. In scatterv only the root knows all sizes: they are gathered by all first
// (src/prepare), and each rank finds its place in the tree by itself. The paper's ranks exchange sizes level by
// level, 3 ceil(lg p) α in all.
//
//   p = 4, root 0, parts of 1 1 1 9   0→3 [2 3]   0→1 3→2

#include "algorithms/patterns/ordered_tree.hpp"

#include "algorithms/list.hpp"
#include "algorithms/patterns/powers.hpp"

namespace stretto::algorithms::scatter_ordered_tree {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  const patterns::OrderedTreePlace place(b, shape, Buffer::input, Buffer::output);
  if (b.rank() == shape.root)
    b.copy(input(shape.root), output(shape.root));
  else
    b.receive(place.lost.winner, place.all());
  for (auto join = place.won.rbegin(); join != place.won.rend(); ++join) {
    if (b.rank() != shape.root || join != place.won.rbegin()) b.round();
    b.send(join->loser, place.blocks(*join));
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "scatter/ordered_tree",
    .summary = "intervals of ranks are split where most data is; few rounds, and large parts move early",
    .source = "Träff, arXiv 1702.05967",
    .volume = "(p-1)/p, or more blocks but small ones",
    .collective = Collective::scatter,
    .needs = {.irregular = true, .counts = true},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ordered_tree_sent(s); },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::scatter_ordered_tree

// SPDX-License-Identifier: BSD-3-Clause
//
// gather/ordered_tree: neighbouring intervals of ranks are joined at the rank that has more data, or at the root.
//
//   rounds    ceil(lg p), after the ceil(lg p) of an allgather of the p sizes
//   volume    in bytes about all but the root's part: what is large moves late, at best once
//   combined  none
//   scratch   the blocks of the others in the interval that the rank gives away
//   needs     counts; to be worth it, different ones
//   source    Träff, arXiv 1702.05967
//
// In gatherv no rank knows the others' sizes: they are gathered by all first (src/prepare), and each rank finds
// its place in the tree by itself. The paper's ranks exchange sizes level by level, 3 ceil(lg p) α in all. A root that
// has little data costs more, for it always wins.
//
//   p = 4, root 0, parts of 1 1 1 9   1→0 2→3   3→0 [2 3]

#include "algorithms/patterns/ordered_tree.hpp"

#include "algorithms/list.hpp"
#include "algorithms/patterns/powers.hpp"

namespace stretto::algorithms::gather_ordered_tree {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  const patterns::OrderedTreePlace place(b, shape, Buffer::output, Buffer::input);
  if (b.rank() == shape.root) b.copy(input(shape.root), output(shape.root));
  for (const patterns::Join& join : place.won) {
    b.receive(join.loser, place.blocks(join));
    b.round();
  }
  if (b.rank() != shape.root) b.send(place.lost.winner, place.all());
}

}  // namespace

constinit const Algorithm record{
    .id = "gather/ordered_tree",
    .summary = "intervals of ranks are joined where most data is; few rounds, and large parts move late",
    .source = "Träff, arXiv 1702.05967",
    .volume = "(p-1)/p, or more blocks but small ones",
    .collective = Collective::gather,
    .needs = {.irregular = true, .counts = true},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ordered_tree_sent(s); },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::gather_ordered_tree

// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/binary_tree: along in-order binary trees, one of the ranks below the root and one of those above it.
//
//   rounds    about 2 lg p: a rank hears its two children one after the other
//   volume    as many vectors as rounds along the longest chain; a rank receives two at most
//   combined  as many vectors as rounds
//   scratch   one vector, on inner ranks but the root
//   needs     nothing: rank order is kept, as left subtree . own . right subtree
//   source    Sanders, Speck and Träff 2009 (in-order trees); here with the root in its place among the ranks
//
// Few rounds like reduce/binomial, but a rank has two children at most: cut into segments, a pipeline.
//
//   p = 7, root 3   0→1 2→1 4→5 6→5   1→3 5→3

#include "algorithms/list.hpp"
#include "algorithms/patterns/in_order.hpp"

namespace stretto::algorithms::reduce_binary_tree {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  patterns::in_order_reduce(b, patterns::in_order_binary(b.rank(), b.ranks(), shape.root));
}

std::int64_t rounds(const Shape& s, const Params&) {
  const Rank larger = std::max(s.root, s.ranks - 1 - s.root);
  const Rank smaller = s.ranks - 1 - larger;
  return patterns::rounds_to_join(larger, patterns::balanced_rounds(larger).second, smaller,
                                  patterns::balanced_rounds(smaller).second);
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce/binary_tree",
    .summary = "along in-order binary trees; a pipeline of few rounds for long vectors, in rank order",
    .source = "Sanders, Speck and Träff 2009",
    .volume = "about 2 lg p",
    .collective = Collective::reduce,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = rounds,
    .sent = rounds,
    .combined = rounds,
    .build = build,
};

}  // namespace stretto::algorithms::reduce_binary_tree

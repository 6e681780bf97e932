// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/chain: the partial result walks from both ends of the ranks to the root; cut into segments, a pipeline.
//
//   rounds    p - 1 if the root is the first or last rank; else the longer side's ranks, 1 more if both are as long
//   volume    as many vectors as rounds along the longest chain; a rank receives one, a root in the middle two
//   combined  as many vectors as rounds
//   scratch   one vector, on ranks between an end and the root
//   needs     nothing: rank order is kept
//   source    pipelined chain: folklore; both sides of the root so that rank order is kept
//
// With s segments in flight the time is that of rounds + s - 1 segments (of 2s more with a root in the middle).
//
//   p = 5, root 1   4→3 3→2 2→1   0→1

#include "algorithms/list.hpp"
#include "algorithms/patterns/in_order.hpp"

namespace stretto::algorithms::reduce_chain {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  patterns::in_order_reduce(b, patterns::in_order_chains(b.rank(), b.ranks(), shape.root));
}

std::int64_t rounds(const Shape& s, const Params&) {
  const Rank longer = std::max(s.root, s.ranks - 1 - s.root);
  const Rank shorter = s.ranks - 1 - longer;
  return std::max(longer, shorter > 0 ? shorter + 1 : 0);
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce/chain",
    .summary = "the partial result walks to the root from both ends; a pipeline for long vectors, in rank order",
    .source = "folklore",
    .volume = "p-1",
    .collective = Collective::reduce,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = rounds,
    .sent = rounds,
    .combined = rounds,
    .build = build,
};

}  // namespace stretto::algorithms::reduce_chain

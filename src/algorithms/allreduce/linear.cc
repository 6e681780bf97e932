// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/linear: every rank sends its vector to all others and combines all p itself, in rank order.
//
//   rounds    1, of p-1 messages
//   volume    p-1 vectors from every rank; one where a message is written once for all its readers
//   combined  p-1 vectors on every rank
//   scratch   one vector if p > 2
//   needs     nothing: rank order is kept, and all ranks form the same expression
//   source    folklore; one stage of recursive multiplying (Wilkins et al., CLUSTER 2023) with radix p, but without
//   scratch
//             for every vector: they are combined as they come, in rank order
//
// Fewest rounds: for short vectors on the few ranks of a node.
//
//   p = 3   0→1 0→2 1→2 1→0 2→0 2→1; all three form (x0 ∘ x1) ∘ x2

#include "algorithms/patterns/linear.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::allreduce_linear {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  patterns::for_each_other(b, [&](Rank to, Rank) { b.send(to, input(0)); });
  patterns::combine_in_rank_order(b, b.ranks(), input(0), output(0));
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/linear",
    .summary = "all vectors to all ranks, each of which combines them in rank order; short vectors in one round",
    .source = "folklore; one stage of recursive multiplying with radix p (Wilkins et al., CLUSTER 2023)",
    .volume = "p-1",
    .collective = Collective::allreduce,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 1 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
};

}  // namespace stretto::algorithms::allreduce_linear

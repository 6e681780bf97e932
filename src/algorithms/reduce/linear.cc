// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/linear: every rank sends its vector straight to the root, which combines all p in rank order.
//
//   rounds    1, of p-1 messages at the root
//   volume    p-1 vectors at the root; one from every other rank
//   combined  p-1 vectors at the root
//   scratch   one vector, on the root, if p > 2
//   needs     nothing: rank order is kept, and the expression is the same for any root
//   source    folklore; reduce/knomial with radix p, but from left to right
//
//   p = 4, root 1   0→1 2→1 3→1; the root forms ((x0 ∘ x1) ∘ x2) ∘ x3

#include "algorithms/patterns/linear.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::reduce_linear {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  if (b.rank() == shape.root)
    patterns::combine_in_rank_order(b, b.ranks(), input(0), output(0));
  else
    b.send(shape.root, input(0));
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce/linear",
    .summary = "all vectors straight to the root, which combines them in rank order; short vectors in one round",
    .source = "folklore",
    .volume = "p-1",
    .collective = Collective::reduce,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 1 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
};

}  // namespace stretto::algorithms::reduce_linear

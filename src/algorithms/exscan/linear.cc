// SPDX-License-Identifier: BSD-3-Clause
//
// exscan/linear: every rank sends its vector to all behind it and combines those of all before it, in rank order.
//
//   rounds    1, of up to p-1 messages
//   volume    p-1 vectors from rank 0, as many at rank p-1
//   combined  p-2 vectors on the last rank
//   scratch   one vector
//   needs     nothing: rank order is kept, and prefixes begin with the same expression
//   source    folklore
//
//   p = 3   0→1 0→2 1→2; rank 2 forms x0 ∘ x1

#include "algorithms/patterns/linear.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::exscan_linear {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  for (Rank to = b.rank() + 1; to < b.ranks(); ++to) b.send(to, input(0));
  patterns::combine_in_rank_order(b, b.rank(), input(0), output(0));
}

}  // namespace

constinit const Algorithm record{
    .id = "exscan/linear",
    .summary = "every vector to all ranks behind, which combine them in rank order; short vectors in one round",
    .source = "folklore",
    .volume = "p-1",
    .collective = Collective::exscan,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 1 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 2 ? s.ranks - 2 : 0; },
    .build = build,
};

}  // namespace stretto::algorithms::exscan_linear

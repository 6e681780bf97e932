// SPDX-License-Identifier: BSD-3-Clause
//
// reduce_scatter/linear: part r of all vectors goes straight to rank r, which combines all p in rank order.
//
//   rounds    1, of p-1 messages
//   volume    (p-1)/p of the vector: the least possible
//   combined  (p-1)/p of the vector
//   scratch   one part if p > 2
//   needs     nothing: rank order is kept
//   source    the direct sends of SparCML's split phase (Renggli et al., SC 2019)
//
// The messages of reduce_scatter/pairwise, all in one round; from left to right, hence for any operator.
//
//   p = 3   r→s [part s], all r ≠ s; rank s forms (x0 ∘ x1) ∘ x2

#include "algorithms/patterns/linear.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::reduce_scatter_linear {
namespace {

void build(Builder& b, const Shape&, const Params&) { patterns::direct_reduce_scatter(b, output(b.rank())); }

}  // namespace

constinit const Algorithm record{
    .id = "reduce_scatter/linear",
    .summary = "all parts straight to their ranks, which combine them in rank order; least volume in one round",
    .source = "direct sends as in SparCML (Renggli et al., SC 2019)",
    .volume = "(p-1)/p",
    .collective = Collective::reduce_scatter,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 1 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
};

}  // namespace stretto::algorithms::reduce_scatter_linear

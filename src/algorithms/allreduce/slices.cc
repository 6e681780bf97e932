// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/slices: slice r of all vectors goes straight to rank r, which combines it and sends it to all.
//
//   rounds    2, of p-1 messages each
//   volume    2(p-1)/p of the vector: the least possible
//   combined  (p-1)/p of the vector
//   scratch   one slice if p > 2
//   needs     nothing: rank order is kept
//   source    the direct sends of SparCML's split phase (Renggli et al., SC 2019), then an allgather of the same kind
//
// Both phases of allreduce/ring, each in one round: long vectors on the ranks of a node.
//
//   p = 3   round 1: r→s [slice s]   round 2: r→s [slice r, complete], all r ≠ s

#include "algorithms/list.hpp"
#include "algorithms/patterns/linear.hpp"

namespace stretto::algorithms::allreduce_slices {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  const Ranges own = output(b.rank());
  patterns::direct_reduce_scatter(b, own);
  b.round();
  patterns::direct_allgather(b, own);
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/slices",
    .summary = "direct reduce-scatter, then direct allgather; least volume in two rounds, in rank order",
    .source = "direct sends as in SparCML (Renggli et al., SC 2019)",
    .volume = "2(p-1)/p",
    .collective = Collective::allreduce,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 2 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
};

}  // namespace stretto::algorithms::allreduce_slices

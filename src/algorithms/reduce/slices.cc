// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/slices: slice r of all vectors goes straight to rank r, which combines it and sends it to the root.
//
//   rounds    2, of p-1 messages each
//   volume    2(p-1)/p of the vector
//   combined  (p-1)/p of the vector
//   scratch   one slice
//   needs     nothing: rank order is kept
//   source    the direct sends of SparCML's split phase (Renggli et al., SC 2019), then a direct gather
//
// Both phases of reduce/ring, each in one round.
//
//   p = 3, root 0   round 1: r→s [slice s], all r ≠ s   round 2: 1→0 [slice 1], 2→0 [slice 2]

#include "algorithms/list.hpp"
#include "algorithms/patterns/linear.hpp"

namespace stretto::algorithms::reduce_slices {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  const bool root = b.rank() == shape.root;
  const Ranges own = root ? output(b.rank()) : scratch(b.new_scratch(b.rank(), 1));
  patterns::direct_reduce_scatter(b, own);
  b.round();
  if (!root) return b.send(shape.root, own);
  patterns::for_each_other(b, [&](Rank, Rank from) { b.receive(from, output(from)); });
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce/slices",
    .summary = "direct reduce-scatter, then direct gather to the root; long vectors in two rounds, in rank order",
    .source = "direct sends as in SparCML (Renggli et al., SC 2019)",
    .volume = "2(p-1)/p",
    .collective = Collective::reduce,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 2 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
};

}  // namespace stretto::algorithms::reduce_slices

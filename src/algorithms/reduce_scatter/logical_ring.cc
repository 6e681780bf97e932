// SPDX-License-Identifier: BSD-3-Clause
//
// reduce_scatter/logical_ring: the partial result of every block walks around a ring and ends at the block's rank.
//
//   rounds    p - 1
//   volume    (p-1)/p of the vector: the least possible
//   combined  (p-1)/p of the vector
//   scratch   p - 2 blocks
//   needs     a commutative operator
//   source    Patarasuk and Yuan 2007, section 3.2
//
// The list "order" names the ranks as they follow each other; the default is node by node. In the depth-first order of
// a tree of switches (`stretto show --topology FILE` prints it) no two messages of a round share a link.
//
//   p = 4, order 0 2 1 3: block 1 starts at rank 3, which follows rank 1, and comes by way of 0 and 2

#include "algorithms/list.hpp"
#include "algorithms/patterns/ring.hpp"

namespace stretto::algorithms::reduce_scatter_logical_ring {
namespace {

void build(Builder& b, const Shape&, const Params& params) {
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  patterns::ring_reduce_scatter_parts(b, patterns::OrderedRing(b, params.list));
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce_scatter/logical_ring",
    .summary = "partial results walk around a ring in a given order; least volume, no contention on trees of switches",
    .source = "Patarasuk and Yuan 2007, section 3.2",
    .volume = "(p-1)/p",
    .collective = Collective::reduce_scatter,
    .needs = {.commutative = true},
    .list = "order",
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
    .misfit = patterns::order_misfit,
};

}  // namespace stretto::algorithms::reduce_scatter_logical_ring

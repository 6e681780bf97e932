// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/logical_ring: allgather/ring with the ranks in any order around the ring.
//
//   rounds    p - 1
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Patarasuk and Yuan 2007, section 3.2
//
// The list "order" names the ranks as they follow each other; the default is node by node. In the depth-first order of
// a tree of switches (`stretto show --topology FILE` prints it) no two messages of a round share a link.
//
//   p = 4, order 0 2 1 3: blocks arriving at rank 1: 2, then 0, then 3

#include "algorithms/list.hpp"
#include "algorithms/patterns/ring.hpp"

namespace stretto::algorithms::allgather_logical_ring {
namespace {

void build(Builder& b, const Shape&, const Params& params) {
  b.copy(input(b.rank()), output(b.rank()));
  patterns::ring_allgather(b, patterns::OrderedRing(b, params.list), Buffer::output);
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/logical_ring",
    .summary = "every block walks once around a ring in a given order; no contention on trees of switches",
    .source = "Patarasuk and Yuan 2007, section 3.2",
    .volume = "(p-1)/p",
    .collective = Collective::allgather,
    .needs = {},
    .list = "order",
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::order_misfit,
};

}  // namespace stretto::algorithms::allgather_logical_ring

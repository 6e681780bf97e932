// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/logical_ring: allreduce/ring with the ranks in any order around the ring.
//
//   rounds    2(p-1)
//   volume    2(p-1)/p of the vector: the least possible
//   combined  (p-1)/p of the vector
//   scratch   none
//   needs     a commutative operator
//   source    Patarasuk and Yuan 2007, section 3.2; 2009 (Bandwidth optimal all-reduce algorithms)
//
// The list "order" names the ranks as they follow each other; the default is node by node. On a tree of switches the
// order in which a depth-first walk meets the machines uses every link at most once in each direction: no contention.
// Where nodes hold consecutive ranks that is rank order already (lemma 5).
//
//   p = 4, order 0 2 1 3: 0→2 2→1 1→3 3→0 in every round

#include "algorithms/list.hpp"
#include "algorithms/patterns/ring.hpp"

namespace stretto::algorithms::allreduce_logical_ring {
namespace {

void build(Builder& b, const Shape&, const Params& params) {
  b.in_group(patterns::given_order(b.ranks(), params.list),
             [](Builder& in_order) { patterns::ring_allreduce(in_order); });
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/logical_ring",
    .summary =
        "reduce-scatter and allgather around a ring in a given order; least volume, no contention on trees of switches",
    .source = "Patarasuk and Yuan 2007, section 3.2; 2009",
    .volume = "2(p-1)/p",
    .collective = Collective::allreduce,
    .needs = {.commutative = true},
    .list = "order",
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
    .misfit = patterns::order_misfit,
};

}  // namespace stretto::algorithms::allreduce_logical_ring

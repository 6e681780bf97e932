// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/ring: reduce-scatter around a ring, then allgather around the same ring.
//
//   rounds    2(p-1)
//   volume    2(p-1)/p of the vector: the least possible
//   combined  (p-1)/p of the vector
//   scratch   none
//   needs     a commutative operator
//   source    Patarasuk and Yuan 2007, section 3.2; Thakur, Rabenseifner and Gropp 2005, section 5.3
//
// Thakur et al. reduce by pairwise exchange, at the same cost; here partial results walk around the ring.
//
//   p = 4, first phase: the partial result of block b starts at rank b+1 and ends, complete, at rank b

#include "algorithms/patterns/ring.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::allreduce_ring {
namespace {

void build(Builder& b, const Shape&, const Params&) { patterns::ring_allreduce(b); }

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/ring",
    .summary = "reduce-scatter and allgather around a ring; least volume, only neighbours talk",
    .source = "Patarasuk and Yuan 2007, section 3.2; Thakur, Rabenseifner and Gropp 2005, section 5.3",
    .volume = "2(p-1)/p",
    .collective = Collective::allreduce,
    .needs = {.commutative = true},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
};

}  // namespace stretto::algorithms::allreduce_ring

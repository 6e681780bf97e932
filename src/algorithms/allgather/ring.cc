// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/ring: every block walks once around the ring.
//
//   rounds    p - 1
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.1
//
//   p = 4, blocks arriving at rank 0: 3, then 2, then 1

#include "algorithms/patterns/ring.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::allgather_ring {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  b.copy(input(b.rank()), output(b.rank()));
  patterns::ring_allgather(b, patterns::Ring(b, 0), Buffer::output);
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/ring",
    .summary = "every block walks once around the ring; only neighbours talk",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.1",
    .volume = "(p-1)/p",
    .collective = Collective::allgather,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::allgather_ring

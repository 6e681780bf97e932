// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/scatter_ring: the root scatters the vector along a binomial tree, then the pieces walk around a ring.
//
//   rounds    ceil(lg p) + p - 1
//   volume    2(p-1)/p of the vector
//   combined  none
//   scratch   none
//   needs     nothing
//   source    van de Geijn's algorithm, as in Thakur, Rabenseifner and Gropp 2005, section 4.2
//
//   p = 4, root 0   round 1: 0→2 [2 3]   round 2: 0→1 [1], 2→3 [3]   then three rounds r → r+1

#include "algorithms/list.hpp"
#include "algorithms/patterns/ring.hpp"
#include "algorithms/patterns/scatter_bcast.hpp"

namespace stretto::algorithms::bcast_scatter_ring {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  patterns::binomial_bcast_scatter(b, shape.root);
  patterns::ring_allgather(b, patterns::Ring(b, shape.root), Buffer::output);
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/scatter_ring",
    .summary = "scatter along a binomial tree, then allgather around a ring; least volume",
    .source = "van de Geijn; Thakur, Rabenseifner and Gropp 2005, section 4.2",
    .volume = "2(p-1)/p",
    .collective = Collective::bcast,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks) + s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::bcast_scatter_ring

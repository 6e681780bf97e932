// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/bruck: in round k every rank passes on the 2^k blocks it has, counted from its own, to the rank 2^k before.
//
//   rounds    ceil(log2 p)
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   none: blocks arrive where they belong, so nothing is rotated in the end
//   needs     nothing
//   source    Bruck et al. 1997; Thakur, Rabenseifner and Gropp 2005, section 4.1
//
//   p = 5, blocks arriving at rank 0: 1, then 2 3, then 4

#include "algorithms/list.hpp"
#include "algorithms/patterns/circulant.hpp"

namespace stretto::algorithms {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  b.copy(input(b.rank()), output(b.rank()));
  patterns::circulant_allgather(b, patterns::power_skips(b.ranks()), Buffer::output);
}

}  // namespace

constinit const Algorithm allgather_bruck{
    .id = "allgather/bruck",
    .summary = "every rank passes on all it has to the rank 2^k before it; fewest rounds",
    .source = "Bruck et al. 1997; Thakur, Rabenseifner and Gropp 2005, section 4.1",
    .volume = "(p-1)/p",
    .collective = Collective::allgather,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms

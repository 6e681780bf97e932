// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/reduce_bcast: reduce/binomial to rank 0, then bcast/binomial from there.
//
//   rounds    2 ceil(lg p)
//   volume    2 ceil(lg p) vectors along the longest chain
//   combined  ceil(lg p) vectors
//   scratch   none
//   needs     nothing: rank order is kept
//   source    Rabenseifner 2004, section 3.3; Thakur, Rabenseifner and Gropp 2005, section 5

#include "algorithms/list.hpp"
#include "algorithms/patterns/in_order.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::allreduce_reduce_bcast {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  patterns::in_order_reduce(b, patterns::in_order_knomial(b.rank(), b.ranks(), 0, 2), [] { return output(0); });
  patterns::knomial_bcast(b, 0, 2);
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/reduce_bcast",
    .summary = "reduce to rank 0, then broadcast, both along binomial trees; in rank order",
    .source = "Rabenseifner 2004, section 3.3; Thakur, Rabenseifner and Gropp 2005, section 5",
    .volume = "2 ceil(lg p)",
    .collective = Collective::allreduce,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return 2 * patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return 2 * patterns::ceil_log2(s.ranks); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .build = build,
};

}  // namespace stretto::algorithms::allreduce_reduce_bcast

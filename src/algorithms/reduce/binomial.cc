// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/binomial: neighbouring intervals of 1, 2, 4, … ranks are joined until one holds the result: the root.
//
//   rounds    ceil(lg p)
//   volume    ceil(lg p) vectors along the longest chain; every rank but the root sends one
//   combined  ceil(lg p) vectors
//   scratch   one vector (not on leaves, not on the root)
//   needs     nothing: rank order is kept for any root, because an interval that holds the root is held by the root
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.5
//
//   p = 5, root 1   round 1: 0→1 3→2   round 2: 2→1   round 3: 4→1

#include "algorithms/list.hpp"
#include "algorithms/patterns/in_order.hpp"
#include "algorithms/patterns/powers.hpp"

namespace stretto::algorithms::reduce_binomial {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  patterns::in_order_reduce(b, patterns::in_order_knomial(b.rank(), b.ranks(), shape.root, 2));
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce/binomial",
    .summary =
        "neighbouring intervals of ranks are joined along a binomial tree; fewest single-message rounds, in rank order",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.5",
    .volume = "ceil(lg p)",
    .collective = Collective::reduce,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .build = build,
};

}  // namespace stretto::algorithms::reduce_binomial

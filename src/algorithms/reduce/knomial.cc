// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/knomial: neighbouring intervals of 1, k, k^2, … ranks are joined, k in one round, until the root has it all.
//
//   rounds    ceil(log_k p)
//   volume    (k-1) ceil(log_k p) vectors along the longest chain, less where the last level is not full
//   combined  as many vectors as sent
//   scratch   one vector (not on leaves, not on the root)
//   needs     nothing: rank order is kept for any root, because an interval that holds the root is held by the root
//   source    Wilkins et al., CLUSTER 2023 (k-nomial trees; here in rank order)
//
// The parameter "radix" is k: more messages at once, fewer rounds. Radix 2 is reduce/binomial.
//
//   p = 7, root 1, radix 3   round 1: 0→1 2→1 4→3 5→3   round 2: 3→1 6→1

#include "algorithms/patterns/knomial.hpp"
#include "algorithms/list.hpp"
#include "algorithms/patterns/in_order.hpp"

namespace stretto::algorithms::reduce_knomial {
namespace {

std::int64_t radix(const Shape& s, const Params& params) { return patterns::usable_radix(params.value, s.ranks); }

void build(Builder& b, const Shape& shape, const Params& params) {
  patterns::in_order_reduce(b, patterns::in_order_knomial(b.rank(), b.ranks(), shape.root, radix(shape, params)));
}

std::int64_t sent(const Shape& s, const Params& params) { return patterns::knomial_sent(s.ranks, params.value); }

}  // namespace

constinit const Algorithm record{
    .id = "reduce/knomial",
    .summary = "k neighbouring intervals of ranks are joined in a round; few rounds for short vectors, in rank order",
    .source = "Wilkins et al., CLUSTER 2023",
    .volume = "(k-1) ceil(log_k p), or less",
    .collective = Collective::reduce,
    .needs = {},
    .parameter = {.name = "radix", .least = 2, .default_value = [](const Shape&) -> std::int64_t { return 4; }},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::ceil_log(s.ranks, params.value);
    },
    .sent = sent,
    .combined = sent,
    .build = build,
};

}  // namespace stretto::algorithms::reduce_knomial

// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/recursive_multiplying: groups of up to k ranks exchange what they have reduced so far, all with all.
//
//   rounds    one for each factor k_i of p' <= p; 2 more if p' < p
//   volume    sum of (k_i - 1) vectors; 2 more if p' < p
//   combined  the same, but 1 more if p' < p
//   scratch   a vector less than the largest factor
//   needs     nothing: rank order is kept
//   source    Wilkins et al., CLUSTER 2023
//
// The parameter "radix" is k: p' is the largest number with factors up to k only. The list "radices" gives the factors
// instead, first that of the nearest ranks, such as those of a node. Pairs of ranks are folded to come down to p'.
// Radix 2 is allreduce/recursive_doubling, a radix from p on one exchange of all with all.
//
//   p = 6, radix 4 (factors 3 and 2)   round 1: 0↔1↔2↔0 3↔4↔5↔3   round 2: 0↔3 1↔4 2↔5

#include "algorithms/list.hpp"
#include "algorithms/patterns/multiplying.hpp"

namespace stretto::algorithms::allreduce_recursive_multiplying {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  patterns::recursive_multiplying(b, patterns::given_radices(shape, params));
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/recursive_multiplying",
    .summary = "groups of up to k ranks exchange whole vectors at once; few rounds, in rank order",
    .source = "Wilkins et al., CLUSTER 2023",
    .volume = "sum of (k_i - 1) over the radices, 2 more if ranks are folded",
    .collective = Collective::allreduce,
    .needs = {},
    .parameter = {.name = "radix", .least = 2, .default_value = [](const Shape&) -> std::int64_t { return 4; }},
    .list = "radices",
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::multiplying_rounds(s.ranks, patterns::given_radices(s, params));
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::multiplying_vectors(s.ranks, patterns::given_radices(s, params), 2);
    },
    .combined = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::multiplying_vectors(s.ranks, patterns::given_radices(s, params), 1);
    },
    .build = build,
    .misfit = patterns::radices_misfit,
};

}  // namespace stretto::algorithms::allreduce_recursive_multiplying

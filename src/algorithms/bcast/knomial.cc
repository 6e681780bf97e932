// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/knomial: whoever has the vector sends it to k - 1 others in each round, to the largest parts first.
//
//   rounds    ceil(log_k p), of up to k - 1 messages
//   volume    (k - 1)(r - 1) + ceil(p / k^(r-1)) - 1 vectors from the root, with r rounds
//   combined  none
//   scratch   none
//   needs     nothing
//   source    radix-k trees as in MPICH, Open MPI and UCC
//
// The parameter "radix" is k: 2 is the binomial tree, p the linear algorithm.
//
//   p = 6, root 0, k = 3   round 1: 0→3   round 2: 0→1 0→2 3→4 3→5

#include "algorithms/patterns/knomial.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::bcast_knomial {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  patterns::knomial_bcast(b, shape.root, params.value);
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/knomial",
    .summary = "down a tree of radix k; fewer rounds of more messages",
    .source = "radix-k trees as in MPICH, Open MPI and UCC",
    .volume = "(k-1) ceil(log_k p), or less",
    .collective = Collective::bcast,
    .needs = {},
    .parameter = {.name = "radix", .least = 2, .default_value = [](const Shape&) -> std::int64_t { return 4; }},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::ceil_log(s.ranks, params.value);
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::knomial_sent(s.ranks, params.value);
    },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::bcast_knomial

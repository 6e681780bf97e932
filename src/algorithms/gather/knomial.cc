// SPDX-License-Identifier: BSD-3-Clause
//
// gather/knomial: gather/binomial with a tree whose places have up to k - 1 children in each level.
//
//   rounds    ceil(log_k p), of up to k - 1 messages
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   the blocks of the subtree but the own, on ranks that are neither root nor leaf
//   needs     nothing
//   source    radix-k trees as in MPICH, Open MPI and UCC; places as in gather/binomial
//
// The parameter "radix" is k: 2 is the binomial tree, p the linear algorithm.
//
//   p = 6, root 0, k = 3   round 1: 1→0 2→0 4→3 5→3   round 2: 3→0 [3 4 5]

#include "algorithms/patterns/knomial.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::gather_knomial {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  patterns::knomial_gather(b, shape.root, params.value);
}

}  // namespace

constinit const Algorithm record{
    .id = "gather/knomial",
    .summary = "whole subtrees of blocks go up a tree of radix k",
    .source = "radix-k trees as in MPICH, Open MPI and UCC; places as in gather/binomial",
    .volume = "(p-1)/p",
    .collective = Collective::gather,
    .needs = {},
    .parameter = {.name = "radix", .least = 2, .default_value = [](const Shape&) -> std::int64_t { return 4; }},
    .forwards = true,
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::ceil_log(s.ranks, params.value);
    },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::gather_knomial

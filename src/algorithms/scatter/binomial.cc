// SPDX-License-Identifier: BSD-3-Clause
//
// scatter/binomial: each place of a binomial tree gets the blocks of its subtree and passes the larger parts on.
//
//   rounds    ceil(lg p)
//   volume    (p-1)/p of the scattered vector: the least possible
//   combined  none
//   scratch   the blocks of the subtree but the own, on ranks that are neither root nor leaf
//   needs     nothing
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.2 (there the scatter of a broadcast)
//
// Places count from the root, so that a subtree is an interval of places, which may wrap around the last rank.
//
//   p = 5, root 1   round 1: 1→0   round 2: 1→3 [3 4]   round 3: 1→2 3→4

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::scatter_binomial {
namespace {

void build(Builder& b, const Shape& shape, const Params&) { patterns::knomial_scatter(b, shape.root, 2); }

}  // namespace

constinit const Algorithm record{
    .id = "scatter/binomial",
    .summary = "whole subtrees of blocks go down a binomial tree; fewest single-message rounds",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.2 (there the scatter of a broadcast)",
    .volume = "(p-1)/p",
    .collective = Collective::scatter,
    .needs = {},
    .forwards = true,
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::scatter_binomial

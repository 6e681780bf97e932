// SPDX-License-Identifier: BSD-3-Clause
//
// gather/binomial: each place of a binomial tree passes on the blocks of its subtree, with its own, in one message.
//
//   rounds    ceil(lg p)
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   the blocks of the subtree but the own, on ranks that are neither root nor leaf
//   needs     nothing
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.5 (there the end of a reduction)
//
// Places count from the root, so that a subtree is an interval of places, which may wrap around the last rank.
//
//   p = 5, root 1   round 1: 2→1 4→3   round 2: 3→1 [3 4]   round 3: 0→1

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::gather_binomial {
namespace {

void build(Builder& b, const Shape& shape, const Params&) { patterns::knomial_gather(b, shape.root, 2); }

}  // namespace

constinit const Algorithm record{
    .id = "gather/binomial",
    .summary = "whole subtrees of blocks go up a binomial tree; fewest single-message rounds",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.5 (there the end of a reduction)",
    .volume = "(p-1)/p",
    .collective = Collective::gather,
    .needs = {},
    .forwards = true,
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::gather_binomial

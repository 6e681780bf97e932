// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/bine: reduce-scatter and allgather with partners at distance …, 11, 5, 3, 1, 1, the far ones first.
//
//   rounds    2 ceil(lg p)
//   volume    2(p-1)/p of the vector: the least possible
//   combined  (p-1)/p of the vector
//   scratch   none
//   needs     a commutative operator, an even number of ranks
//   source    De Sensi et al., Bine trees, SC 2025, arXiv 2508.17311; any even p by arrival trees
//
// allreduce/swing with its steps in the reverse order: the largest messages go farthest, about p/3 where halving has
// p/2 if p = 2^k; up to p/2 for other even p. Blocks of a message do not lie together: it is packed. See
// patterns/swing.hpp for which they are.
//
//   p = 8   partners of rank 0: 3, 7, 1, then back 1, 7, 3   of rank 1: 6, 2, 0, then back

#include "algorithms/list.hpp"
#include "algorithms/patterns/swing.hpp"

namespace stretto::algorithms::allreduce_bine {
namespace {

void build(Builder& b, const Shape&, const Params&) { patterns::swing_allreduce(b, false); }

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/bine",
    .summary =
        "reduce-scatter and allgather at distances …, 5, 3, 1, 1; least volume, nearer partners than halving if p = "
        "2^k",
    .source = "De Sensi et al., Bine trees, SC 2025, arXiv 2508.17311",
    .volume = "2(p-1)/p",
    .collective = Collective::allreduce,
    .needs = {.commutative = true, .ranks = RanksNeeded::even},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return 2 * patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
};

}  // namespace stretto::algorithms::allreduce_bine

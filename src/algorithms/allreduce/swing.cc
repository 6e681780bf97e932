// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/swing: reduce-scatter and allgather with partners at distance 1, 1, 3, 5, 11, …, the near ones first.
//
//   rounds    2 ceil(lg p)
//   volume    2(p-1)/p of the vector: the least possible
//   combined  (p-1)/p of the vector
//   scratch   none
//   needs     a commutative operator, an even number of ranks
//   source    De Sensi et al., Swing, NSDI 2024, arXiv 2401.09356; any even p by arrival trees
//
// The largest messages go to the nearest partners, over shorter distances than the 1, 2, 4, 8, … of halving. Blocks of
// a message do not lie together: it is packed. See patterns/swing.hpp for which they are.
//
//   p = 8   partners of rank 0: 1, 7, 3, then back 3, 7, 1   of rank 1: 0, 2, 6, then back

#include "algorithms/patterns/swing.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::allreduce_swing {
namespace {

void build(Builder& b, const Shape&, const Params&) { patterns::swing_allreduce(b, true); }

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/swing",
    .summary =
        "reduce-scatter and allgather at distances 1, 1, 3, 5, 11, …; least volume, short ways on rings and tori",
    .source = "De Sensi et al., Swing, NSDI 2024, arXiv 2401.09356",
    .volume = "2(p-1)/p",
    .collective = Collective::allreduce,
    .needs = {.commutative = true, .ranks = RanksNeeded::even},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return 2 * patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
};

}  // namespace stretto::algorithms::allreduce_swing

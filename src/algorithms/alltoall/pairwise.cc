// SPDX-License-Identifier: BSD-3-Clause
//
// alltoall/pairwise: in round i every rank sends to the rank i further on and receives from the rank i before.
//
//   rounds    p - 1
//   volume    (p-1)/p of the vector: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.3
//
// The paper's volume is n for n = the data of a rank for all ranks; it counts the rank's own block, which stays.
//
//   p = 4   round 1: 0→1 1→2 2→3 3→0   round 2: 0↔2 1↔3   round 3: 0→3 1→0 2→1 3→2

#include "algorithms/list.hpp"
#include "algorithms/patterns/alltoall.hpp"

namespace stretto::algorithms::alltoall_pairwise {
namespace {

void build(Builder& b, const Shape&, const Params&) { patterns::shifted_alltoall(b, 1); }

}  // namespace

constinit const Algorithm record{
    .id = "alltoall/pairwise",
    .summary = "in round i to the rank i further on; one message at a time",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.3",
    .volume = "(p-1)/p",
    .collective = Collective::alltoall,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::alltoall_pairwise

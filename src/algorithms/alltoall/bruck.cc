// SPDX-License-Identifier: BSD-3-Clause
//
// alltoall/bruck: a block for the rank i further on goes there by the digits of i, together with others on their way.
//
//   rounds    ceil(lg p); for radix k: k-1 for every digit of p-1 in base k, less those whose shift is p or more
//   volume    (lg p)/2 vectors if p = 2^k; in general the digits other than 0 of 0 … p-1, as a share of p
//   combined  none
//   scratch   a slot for every block that rests on its way: volume less (p-1)/p
//   needs     nothing
//   source    Bruck et al. 1997; Thakur, Rabenseifner and Gropp 2005, section 4.3; alltoallv: Fan et al., HPDC 2022
//
// The paper gives n/2 lg p + n/p (p - 2^floor(lg p)) for p other than 2^k, as if all rounds but the last moved half of
// the data; p = 5 moves 2, 2 and 1 blocks. Blocks go from the input and into the output, so the paper's two rotations
// are not needed. In alltoallv and alltoallw it is the two-phase Bruck of Fan et al., with the sizes of all blocks in a
// pass of their own before (theirs go ahead of each round): twice the rounds.
//
//   p = 6, radix=2, blocks that rank 0 sends, by their distance   to 1: 1 3 5   to 2: 2 3   to 4: 4 5

#include "algorithms/list.hpp"
#include "algorithms/patterns/alltoall.hpp"

namespace stretto::algorithms::alltoall_bruck {
namespace {

void build(Builder& b, const Shape&, const Params& params) { patterns::bruck_alltoall(b, params.value); }

}  // namespace

constinit const Algorithm record{
    .id = "alltoall/bruck",
    .summary =
        "blocks travel by the digits of their distance, many in a message; fewest single-message rounds if k = 2",
    .source = "Bruck et al. 1997; Thakur, Rabenseifner and Gropp 2005, section 4.3; alltoallv: Fan et al., HPDC 2022",
    .volume = "(lg p)/2 if p = 2^k",
    .collective = Collective::alltoall,
    .needs = {},
    .parameter = {.name = "radix", .least = 2, .default_value = [](const Shape&) -> std::int64_t { return 2; }},
    .forwards = true,
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::bruck_rounds(s.ranks, params.value);
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::bruck_sent(s.ranks, params.value);
    },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::alltoall_bruck

// SPDX-License-Identifier: BSD-3-Clause
//
// alltoall/padded_bruck: alltoall/bruck for blocks of different sizes, which all travel as if they had the largest one.
//
//   rounds    those of alltoall/bruck
//   volume    that of alltoall/bruck, every block counted with the largest one's size
//   combined  none
//   scratch   that of alltoall/bruck
//   needs     parts of different sizes: otherwise it is alltoall/bruck
//   source    padded Bruck of Fan et al., HPDC 2022
//
// To agree on one size costs less than to send the size of every block ahead: good for tiny blocks of similar sizes.
//
//   p = 6, radix=2, blocks that rank 0 sends, by their distance   to 1: 1 3 5   to 2: 2 3   to 4: 4 5

#include "algorithms/list.hpp"
#include "algorithms/patterns/alltoall.hpp"

namespace stretto::algorithms::alltoall_padded_bruck {
namespace {

void build(Builder& b, const Shape&, const Params& params) { patterns::bruck_alltoall(b, params.value); }

}  // namespace

constinit const Algorithm record{
    .id = "alltoall/padded_bruck",
    .summary = "Bruck's algorithm with all blocks padded to the largest one's size",
    .source = "Fan et al., HPDC 2022",
    .volume = "(lg p)/2 if p = 2^k",
    .collective = Collective::alltoall,
    .needs = {.irregular = true},
    .parameter = {.name = "radix", .least = 2, .default_value = [](const Shape&) -> std::int64_t { return 2; }},
    .padded = true,
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

}  // namespace stretto::algorithms::alltoall_padded_bruck

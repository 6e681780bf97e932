// SPDX-License-Identifier: BSD-3-Clause
//
// alltoall/pairwise_xor: in round i rank r exchanges blocks with rank r xor i, so that both ways go between two ranks.
//
//   rounds    p - 1
//   volume    (p-1)/p of the vector: the least possible
//   combined  none
//   scratch   none
//   needs     p = 2^k
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.3
//
//   p = 4   round 1: 0↔1 2↔3   round 2: 0↔2 1↔3   round 3: 0↔3 1↔2

#include "algorithms/list.hpp"

namespace stretto::algorithms::alltoall_pairwise_xor {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  b.copy(input(b.rank()), output(b.rank()));
  for (Rank i = 1; i < b.ranks(); ++i) {
    const Rank partner = b.rank() ^ i;
    b.round();
    b.send(partner, input(partner));
    b.receive(partner, output(partner));
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "alltoall/pairwise_xor",
    .summary = "in round i an exchange with rank r xor i; one partner at a time",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.3",
    .volume = "(p-1)/p",
    .collective = Collective::alltoall,
    .needs = {.ranks = RanksNeeded::power_of_two},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::alltoall_pairwise_xor

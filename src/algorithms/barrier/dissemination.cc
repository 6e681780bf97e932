// SPDX-License-Identifier: BSD-3-Clause
//
// barrier/dissemination: in round k everybody tells the rank 2^k further on that it, and all it has heard of, came.
//
//   rounds    ceil(log2 p)
//   volume    none: empty messages
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Hensgen, Finkel and Manber (1988)
//
//   p = 4   round 1: 0→1 1→2 2→3 3→0   round 2: 0→2 1→3 2→0 3→1

#include "algorithms/list.hpp"
#include "algorithms/patterns/powers.hpp"

namespace stretto::algorithms {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  for (Rank distance = 1; distance < b.ranks(); distance *= 2) {
    b.round();
    b.send(patterns::modulo(b.rank() + distance, b.ranks()), {});
    b.receive(patterns::modulo(b.rank() - distance, b.ranks()), {});
  }
}

}  // namespace

constinit const Algorithm barrier_dissemination{
    .id = "barrier/dissemination",
    .summary = "everybody tells the rank 2^k further on, in round k",
    .source = "Hensgen, Finkel and Manber 1988",
    .volume = "0",
    .collective = Collective::barrier,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms

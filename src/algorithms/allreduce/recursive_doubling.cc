// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/recursive_doubling: partners at distance 1, 2, 4, … exchange what they have reduced so far.
//
//   rounds    lg p if p = 2^k; else 2 + floor(lg p)
//   volume    as many vectors as rounds
//   combined  lg p vectors if p = 2^k; else 1 + floor(lg p)
//   scratch   one vector
//   needs     nothing: rank order is kept
//   source    Rabenseifner 2004, section 3.4; Thakur, Rabenseifner and Gropp 2005, section 4.5
//
//   p = 6   round 1: 1→0 3→2   then among 0 2 4 5: 0↔2 4↔5, 0↔4 2↔5   round 4: 0→1 2→3

#include "algorithms/list.hpp"
#include "algorithms/patterns/multiplying.hpp"

namespace stretto::algorithms::allreduce_recursive_doubling {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  patterns::recursive_multiplying(b, patterns::radices(b.ranks(), 2));
}

std::int64_t steps(const Shape& s, const Params& = {}) {
  return patterns::floor_log2(s.ranks) + (patterns::is_power_of_two(s.ranks) ? 0 : 2);
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/recursive_doubling",
    .summary =
        "partners at distance 1, 2, 4, … exchange whole vectors; fewest single-message rounds if p = 2^k, in rank "
        "order",
    .source = "Rabenseifner 2004, section 3.4; Thakur, Rabenseifner and Gropp 2005, section 4.5",
    .volume = "lg p if p = 2^k, else 2 + floor(lg p)",
    .collective = Collective::allreduce,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = steps,
    .sent = steps,
    .combined = [](const Shape& s, const Params&) -> std::int64_t {
      return patterns::floor_log2(s.ranks) + (patterns::is_power_of_two(s.ranks) ? 0 : 1);
    },
    .build = build,
};

}  // namespace stretto::algorithms::allreduce_recursive_doubling

// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/recursive_doubling: partners at distance 1, 2, 4, … exchange all they have.
//
//   rounds    lg p if p = 2^k; else at most 2 floor(lg p) + 1: incomplete subtrees hand what they got on to those
//             without a partner
//   volume    (p-1)/p of the gathered vector if p = 2^k; else more along the longest chain, below 2.25 vectors
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.1.1
//
// The paper's bound, 2 floor(lg p) for any p, is exceeded by one round at p = 3 (0↔1, 0↔2, 0→1), 5, 7, 9, 13, 15, 17, …
// How such numbers of ranks are dealt with is in patterns/doubling.hpp.
//
//   p = 5   0↔1 2↔3   0↔2 1↔3   0↔4   0→1   0→2 1→3

#include <vector>

#include "algorithms/list.hpp"
#include "algorithms/patterns/doubling.hpp"

namespace stretto::algorithms::allgather_recursive_doubling {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  b.copy(input(b.rank()), output(b.rank()));
  patterns::recursive_doubling_allgather(b, 0, b.ranks());
}

patterns::Clock cost(const Shape& s) {
  std::vector<patterns::Clock> clocks(static_cast<std::size_t>(s.ranks));
  patterns::recursive_doubling_allgather(clocks);
  return patterns::latest(clocks);
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/recursive_doubling",
    .summary = "partners at distance 1, 2, 4, … exchange all they have; best if p = 2^k",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.1.1",
    .volume = "(p-1)/p if p = 2^k, else below 2.25",
    .collective = Collective::allgather,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return cost(s).rounds; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return cost(s).sent; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::allgather_recursive_doubling

// SPDX-License-Identifier: BSD-3-Clause
//
// reduce_scatter/pairwise: in round i every rank sends its part of a block straight to its owner, i further on.
//
//   rounds    p - 1
//   volume    (p-1)/p of the vector: the least possible
//   combined  (p-1)/p of the vector
//   scratch   none
//   needs     a commutative operator (owner r combines r, r-1, …, 0, p-1, …, r+1)
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.4

#include "algorithms/patterns/pairwise.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::reduce_scatter_pairwise {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  patterns::pairwise_reduce_scatter(b, output(b.rank()));
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce_scatter/pairwise",
    .summary = "every part goes straight to the owner of its block; no scratch",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.4",
    .volume = "(p-1)/p",
    .collective = Collective::reduce_scatter,
    .needs = {.commutative = true},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
};

}  // namespace stretto::algorithms::reduce_scatter_pairwise

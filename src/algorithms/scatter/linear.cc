// SPDX-License-Identifier: BSD-3-Clause
//
// scatter/linear: the root sends every rank its block straight.
//
//   rounds    1, of p - 1 messages at the root: their latencies add up where only one can be under way
//   volume    (p-1)/p of the scattered vector, all of it from the root
//   combined  none
//   scratch   none
//   needs     nothing
//   source    folklore; every MPI library has it
//
//   p = 4, root 1   1→0 1→2 1→3, in any order

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::scatter_linear {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  // The tree of one level.
  patterns::knomial_scatter(b, shape.root, b.ranks());
}

}  // namespace

constinit const Algorithm record{
    .id = "scatter/linear",
    .summary = "the root sends every rank its block straight; nothing travels twice",
    .source = "folklore; every MPI library has it",
    .volume = "(p-1)/p",
    .collective = Collective::scatter,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 1 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::scatter_linear

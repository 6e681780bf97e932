// SPDX-License-Identifier: BSD-3-Clause
//
// gather/linear: every rank sends its block straight to the root.
//
//   rounds    1, of p - 1 messages at the root: their latencies add up where only one can be under way
//   volume    (p-1)/p of the gathered vector, all of it at the root
//   combined  none
//   scratch   none
//   needs     nothing
//   source    folklore; every MPI library has it
//
//   p = 4, root 1   0→1 2→1 3→1, in any order

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::gather_linear {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  // The tree of one level.
  patterns::knomial_gather(b, shape.root, b.ranks());
}

}  // namespace

constinit const Algorithm record{
    .id = "gather/linear",
    .summary = "every rank sends its block straight to the root; nothing travels twice",
    .source = "folklore; every MPI library has it",
    .volume = "(p-1)/p",
    .collective = Collective::gather,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 1 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::gather_linear

// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/linear: every rank sends its block straight to all others.
//
//   rounds    1, of p-1 messages
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    folklore
//
//   p = 3   0→1 0→2 1→2 1→0 2→0 2→1

#include "algorithms/patterns/linear.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::allgather_linear {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  b.copy(input(b.rank()), output(b.rank()));
  patterns::direct_allgather(b, input(b.rank()));
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/linear",
    .summary = "every block straight to all ranks; least volume in one round",
    .source = "folklore",
    .volume = "(p-1)/p",
    .collective = Collective::allgather,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 1 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::allgather_linear

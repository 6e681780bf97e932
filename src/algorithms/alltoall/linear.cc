// SPDX-License-Identifier: BSD-3-Clause
//
// alltoall/linear: all messages at once, straight to their ranks; every rank begins with its neighbour.
//
//   rounds    1, of p-1 messages
//   volume    (p-1)/p of the vector: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    scattered isend-irecv of Thakur, Rabenseifner and Gropp 2005, section 4.3
//
//   p = 4, order of the sends   rank 0: 1 2 3   rank 1: 2 3 0   rank 2: 3 0 1   rank 3: 0 1 2

#include "algorithms/list.hpp"
#include "algorithms/patterns/alltoall.hpp"

namespace stretto::algorithms::alltoall_linear {
namespace {

void build(Builder& b, const Shape&, const Params&) { patterns::shifted_alltoall(b, b.ranks()); }

}  // namespace

constinit const Algorithm record{
    .id = "alltoall/linear",
    .summary = "all messages at once, straight to their ranks",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.3",
    .volume = "(p-1)/p",
    .collective = Collective::alltoall,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 1 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::alltoall_linear

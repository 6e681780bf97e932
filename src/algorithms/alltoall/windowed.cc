// SPDX-License-Identifier: BSD-3-Clause
//
// alltoall/windowed: like alltoall/linear, but only `window` messages at a time are under way each way.
//
//   rounds    ceil((p-1)/window), of up to `window` messages
//   volume    (p-1)/p of the vector: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.3, with a bound on the messages in flight
//
//   p = 6, window=2, sends of rank 0   round 1: 1 2   round 2: 3 4   round 3: 5

#include "algorithms/list.hpp"
#include "algorithms/patterns/alltoall.hpp"

namespace stretto::algorithms::alltoall_windowed {
namespace {

void build(Builder& b, const Shape&, const Params& params) { patterns::shifted_alltoall(b, params.value); }

}  // namespace

constinit const Algorithm record{
    .id = "alltoall/windowed",
    .summary = "messages straight to their ranks, a bounded number of them at a time",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.3",
    .volume = "(p-1)/p",
    .collective = Collective::alltoall,
    .needs = {},
    .parameter = {.name = "window", .least = 1, .default_value = [](const Shape&) -> std::int64_t { return 8; }},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return s.ranks > 1 ? (s.ranks - 2) / params.value + 1 : 0;
    },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::alltoall_windowed

// SPDX-License-Identifier: BSD-3-Clause
//
// barrier/linear: everybody tells all others that it came.
//
//   rounds    1, of p-1 messages
//   volume    none: empty messages
//   combined  none
//   scratch   none
//   needs     nothing
//   source    folklore; barrier/dissemination with radix p
//
//   p = 3   0→1 0→2 1→2 1→0 2→0 2→1

#include "algorithms/patterns/linear.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::barrier_linear {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  patterns::for_each_other(b, [&](Rank to, Rank from) {
    b.send(to, {});
    b.receive(from, {});
  });
}

}  // namespace

constinit const Algorithm record{
    .id = "barrier/linear",
    .summary = "everybody tells all others that it came, in one round",
    .source = "folklore",
    .volume = "0",
    .collective = Collective::barrier,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 1 : 0; },
    .sent = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::barrier_linear

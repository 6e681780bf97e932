// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/linear: the root sends the vector straight to every rank.
//
//   rounds    1, of p-1 messages at the root
//   volume    p-1 vectors from the root; one where a message is written once for all its readers
//   combined  none
//   scratch   none
//   needs     nothing
//   source    folklore; the tree of one level: bcast/knomial with radix p
//
//   p = 4, root 1   1→2 1→3 1→0

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::bcast_linear {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  // The tree of one level.
  patterns::knomial_bcast(b, shape.root, b.ranks());
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/linear",
    .summary = "the root sends the vector straight to every rank, in one round",
    .source = "folklore",
    .volume = "p-1",
    .collective = Collective::bcast,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 1 ? 1 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::bcast_linear

// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/chain: every rank passes the vector on to the next one, counted from the root.
//
//   rounds    p - 1; with n segments p - 2 + n
//   volume    p - 1 vectors along the chain; with n segments (p-2+n)/n
//   combined  none
//   scratch   none
//   needs     nothing
//   source    folklore; the linear pipeline of every MPI library
//
// Meant to be cut into segments, which follow each other down the chain.
//
//   p = 4, root 2   2→3   3→0   0→1

#include "algorithms/list.hpp"
#include "algorithms/patterns/ring.hpp"

namespace stretto::algorithms::bcast_chain {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  const patterns::Ring ring(b, shape.root);
  if (ring.place > 0) b.receive(ring.prev(), output(0));
  b.round();
  if (ring.place < b.ranks() - 1) b.send(ring.next(), output(0));
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/chain",
    .summary = "every rank passes the vector on to the next; for many segments",
    .source = "folklore; the linear pipeline of every MPI library",
    .volume = "p-1",
    .collective = Collective::bcast,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::bcast_chain

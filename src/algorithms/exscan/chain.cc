// SPDX-License-Identifier: BSD-3-Clause
//
// exscan/chain: every rank gets its prefix from the rank before it and hands it on together with its contribution.
//
//   rounds    p - 1
//   volume    p - 1 vectors along the chain; every rank sends one and receives one
//   combined  p - 2 vectors along the chain
//   scratch   one vector, not on the first and the last rank
//   needs     nothing: rank order is kept
//   source    pipelined linear scan, as in Sanders and Träff 2006
//
// Uncut it is what others call the linear scan. Cut into segments it is a pipeline: p-2+n rounds for n segments.
//
//   p = 4   round 1: 0→1 [0]   round 2: 1→2 [0 1]   round 3: 2→3 [0 1 2]

#include "algorithms/list.hpp"

namespace stretto::algorithms::exscan_chain {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  const Rank r = b.rank();
  const bool first = r == 0;
  const bool last = r + 1 == b.ranks();
  Ranges next = input(0);
  if (!first && !last) {
    next = scratch(b.new_scratch(0, 1));
    b.copy(input(0), next);  // while the prefix is on its way: in place it takes the place of the contribution
    b.round();
  }
  if (!first) b.receive(r - 1, output(0));
  if (!first && !last) b.reduce(output(0), next, Side::left, next);
  b.round();
  if (!last) b.send(r + 1, next);
}

}  // namespace

constinit const Algorithm record{
    .id = "exscan/chain",
    .summary = "the prefix walks from rank to rank; for long vectors in segments",
    .source = "Sanders and Träff 2006",
    .volume = "p-1",
    .collective = Collective::exscan,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 2 ? s.ranks - 2 : 0; },
    .build = build,
};

}  // namespace stretto::algorithms::exscan_chain

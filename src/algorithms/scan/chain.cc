// SPDX-License-Identifier: BSD-3-Clause
//
// scan/chain: every rank gets the prefix from the rank before it, puts its contribution to it and hands it on.
//
//   rounds    p - 1
//   volume    p - 1 vectors along the chain; every rank sends one and receives one
//   combined  p - 1 vectors along the chain
//   scratch   none
//   needs     nothing: rank order is kept
//   source    pipelined linear scan, as in Sanders and Träff 2006
//
// Uncut it is what others call the linear scan. Cut into segments it is a pipeline: p-2+n rounds for n segments.
//
//   p = 4   round 1: 0→1   round 2: 1→2   round 3: 2→3

#include "algorithms/list.hpp"

namespace stretto::algorithms::scan_chain {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  const Rank r = b.rank();
  if (r > 0) b.receive_reduce(r - 1, output(0), Side::left, input(0));
  b.round();
  if (r + 1 < b.ranks()) b.send(r + 1, r == 0 ? input(0) : output(0));
  b.round();  // in place the output is what the round before sends
  if (r == 0) b.copy(input(0), output(0));
}

}  // namespace

constinit const Algorithm record{
    .id = "scan/chain",
    .summary = "the prefix walks from rank to rank; for long vectors in segments",
    .source = "Sanders and Träff 2006",
    .volume = "p-1",
    .collective = Collective::scan,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
};

}  // namespace stretto::algorithms::scan_chain

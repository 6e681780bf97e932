// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/logical_chain: n blocks walk through the ranks in any order, one behind the other; when all are reduced the
// last rank sends them to all.
//
//   rounds    2n + p - 2
//   volume    (n + p - 2)/n vectors along the chain, then p - 1 out of its last rank
//   combined  (n + p - 2)/n vectors
//   scratch   none
//   needs     a commutative operator
//   source    folklore: reduce/logical_chain, then bcast/linear
//
// For the ranks of one node: all read the result where the last rank has written it, once. The parameter "pieces" is n.
//
//   p = 3, order 0 1 2, n = 2   2→1 [0]   2→1 [1], 1→0 [0]   1→0 [1]   0→1,2 [0]   0→1,2 [1]

#include "algorithms/list.hpp"
#include "algorithms/patterns/ring.hpp"

namespace stretto::algorithms::allreduce_logical_chain {
namespace {

void build(Builder& b, const Shape&, const Params& params) {
  if (b.ranks() == 1) return b.copy(input(0, b.blocks()), output(0, b.blocks()));
  const patterns::OrderedRing ring(b, params.list);
  const Rank last = ring.order.front();
  const bool starts = ring.place == b.ranks() - 1;
  for (Block block = 0; block <= b.blocks(); ++block) {
    b.round();
    if (block > 0 && b.rank() != last) b.send(ring.prev(), starts ? input(block - 1) : output(block - 1));
    if (block < b.blocks() && !starts) b.receive_reduce(ring.next(), output(block), Side::right, input(block));
  }
  for (Block block = 0; block < b.blocks(); ++block) {
    b.round();
    if (b.rank() != last) b.receive(last, output(block));
    for (Rank r = 0; r < b.ranks(); ++r)
      if (b.rank() == last && r != last) b.send(r, output(block));
  }
}

std::int64_t along_the_chain(const Shape& s, const Params& params) {
  return s.ranks > 1 ? params.value + s.ranks - 2 : 0;
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/logical_chain",
    .summary = "n blocks walk from rank to rank in a given order; the last rank sends the results to all; on one node",
    .source = "folklore",
    .volume = "p-1 + (n+p-2)/n",
    .collective = Collective::allreduce,
    .needs = {.commutative = true},
    .parameter = {.name = "pieces", .least = 1, .default_value = [](const Shape&) -> std::int64_t { return 8; }},
    .list = "order",
    .blocks = [](const Shape&, const Params& params) -> Block { return params.value; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return s.ranks > 1 ? along_the_chain(s, params) + params.value : 0;
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      return along_the_chain(s, params) + params.value * (s.ranks - 1);
    },
    .combined = along_the_chain,
    .build = build,
    .misfit = patterns::order_misfit,
};

}  // namespace stretto::algorithms::allreduce_logical_chain

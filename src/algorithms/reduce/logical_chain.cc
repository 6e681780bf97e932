// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/logical_chain: the partial result walks through the ranks in any order and ends at the root.
//
//   rounds    p - 1; with n segments p - 2 + n
//   volume    p - 1 vectors along the chain; with n segments (p-2+n)/n
//   combined  as many vectors
//   scratch   one vector, on ranks that are neither first nor the root
//   needs     a commutative operator
//   source    the ring of Patarasuk and Yuan 2007, section 3.2, cut open at the root
//
// bcast/logical_chain backwards, and as free of contention in the depth-first order of a tree of switches.
//
//   p = 4, order 0 2 1 3, root 1   2→0   0→3   3→1

#include "algorithms/list.hpp"
#include "algorithms/patterns/ring.hpp"

namespace stretto::algorithms::reduce_logical_chain {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  const patterns::OrderedRing ring(b, params.list);
  const Rank place = ring.place_from(shape.root);
  Ranges partial = input(0);
  if (place < b.ranks() - 1) {
    partial = place == 0 ? output(0) : scratch(b.new_scratch(0, 1));
    b.receive_reduce(ring.next(), partial, Side::right, input(0));
  }
  b.round();
  if (place > 0) b.send(ring.prev(), partial);
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce/logical_chain",
    .summary = "the partial result goes from rank to rank in a given order; for many segments, no contention on trees",
    .source = "the ring of Patarasuk and Yuan 2007, section 3.2, cut open",
    .volume = "p-1",
    .collective = Collective::reduce,
    .needs = {.commutative = true},
    .list = "order",
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
    .misfit = patterns::order_misfit,
};

}  // namespace stretto::algorithms::reduce_logical_chain

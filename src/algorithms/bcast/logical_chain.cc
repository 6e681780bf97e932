// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/logical_chain: bcast/chain with the ranks in any order, counted from the root.
//
//   rounds    p - 1; with n segments p - 2 + n
//   volume    p - 1 vectors along the chain; with n segments (p-2+n)/n
//   combined  none
//   scratch   none
//   needs     nothing
//   source    the ring of Patarasuk and Yuan 2007, section 3.2, cut open at the root
//
// The list "order" names the ranks as they follow each other, the first after the last; the default is node by node. In
// the depth-first order of a tree of switches (`stretto show --topology FILE` prints it) every link is used once in
// each direction at most, so that segments follow each other down the chain at the speed of one link.
//
//   p = 4, order 0 2 1 3, root 1   1→3   3→0   0→2

#include "algorithms/list.hpp"
#include "algorithms/patterns/ring.hpp"

namespace stretto::algorithms::bcast_logical_chain {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::OrderedRing ring(b, params.list);
  const Rank place = ring.place_from(shape.root);
  if (place > 0) b.receive(ring.prev(), output(0));
  b.round();
  if (place < b.ranks() - 1) b.send(ring.next(), output(0));
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/logical_chain",
    .summary = "the vector goes from rank to rank in a given order; for many segments, no contention on trees",
    .source = "the ring of Patarasuk and Yuan 2007, section 3.2, cut open",
    .volume = "p-1",
    .collective = Collective::bcast,
    .needs = {},
    .list = "order",
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::order_misfit,
};

}  // namespace stretto::algorithms::bcast_logical_chain

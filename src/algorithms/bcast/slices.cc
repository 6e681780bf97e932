// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/slices: the root sends each of the others a slice, and these pass their slices to each other.
//
//   rounds    2, of up to p-1 messages; 1 if p = 2
//   volume    1 vector, at the root and at the others: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    van de Geijn's scatter and allgather (Thakur, Rabenseifner and Gropp 2005, section 4.2), both direct
//
// There are p-1 slices: the root keeps none, for nobody would be relieved by it. Where messages are written once for
// all their readers, bcast/linear loads the root no more and takes one round less.
//
//   p = 4, root 0   round 1: 0→1 [0] 0→2 [1] 0→3 [2]   round 2: 1→2 1→3 [0], 2→3 2→1 [1], 3→1 3→2 [2]

#include <span>
#include <vector>

#include "algorithms/list.hpp"
#include "algorithms/patterns/groups.hpp"
#include "algorithms/patterns/linear.hpp"

namespace stretto::algorithms::bcast_slices {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  b.in_group(patterns::from_root(b, shape.root), [](Builder& places) {
    if (places.rank() > 0) return places.receive(0, output(places.rank() - 1));
    patterns::for_each_other(places, [&](Rank to, Rank) { places.send(to, output(to - 1)); });
  });
  b.round();
  b.in_group(patterns::after_root(b, shape.root),
             [](Builder& others) { patterns::direct_allgather(others, output(others.rank())); });
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/slices",
    .summary = "the root gives each of the others a slice, which they pass to each other; least volume in two rounds",
    .source = "van de Geijn's algorithm (Thakur, Rabenseifner and Gropp 2005, section 4.2) with direct sends",
    .volume = "1",
    .collective = Collective::bcast,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks > 1 ? s.ranks - 1 : 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks > 2 ? 2 : s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::bcast_slices

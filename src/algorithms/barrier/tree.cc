// SPDX-License-Identifier: BSD-3-Clause
//
// barrier/tree: word that all have come goes up a binomial tree to rank 0, and the release goes down it.
//
//   rounds    2 ceil(lg p); only 2 (p - 1) messages in all
//   volume    none: empty messages
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Yew, Tzeng and Lawrie (1987), combining trees; Mellor-Crummey and Scott (1991)
//
//   p = 4   1→0 3→2   2→0   0→2   0→1 2→3

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  const patterns::KnomialPlace place(b, 0, 2);
  for (std::int64_t step = 1; step < place.end; step *= 2) {
    place.for_each_child(step, [&](Rank child, Rank) { b.receive(child, {}); });
    b.round();
  }
  if (place.v != 0) {
    b.send(place.parent(), {});
    b.round();
    b.receive(place.parent(), {});
  }
  for (std::int64_t step = place.end / 2; step > 0; step /= 2) {
    b.round();
    place.for_each_child(step, [&](Rank child, Rank) { b.send(child, {}); });
  }
}

}  // namespace

constinit const Algorithm barrier_tree{
    .id = "barrier/tree",
    .summary = "up a binomial tree to rank 0 and down again; fewest messages",
    .source = "Yew, Tzeng and Lawrie 1987; Mellor-Crummey and Scott 1991",
    .volume = "0",
    .collective = Collective::barrier,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return 2 * patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms

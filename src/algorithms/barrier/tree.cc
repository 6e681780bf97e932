// SPDX-License-Identifier: BSD-3-Clause
//
// barrier/tree: word that all have come goes up a k-nomial tree to rank 0, and the release goes down it.
//
//   rounds    2 ceil(log_k p); only 2 (p - 1) messages in all
//   volume    none: empty messages
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Yew, Tzeng and Lawrie (1987), combining trees; Mellor-Crummey and Scott (1991)
//
// The parameter "radix" is k: more messages at once, fewer rounds. Radix 2 is a binomial tree, p all to rank 0 at once.
//
//   p = 4   1→0 3→2   2→0   0→2   0→1 2→3

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::barrier_tree {
namespace {

void build(Builder& b, const Shape&, const Params& params) {
  const patterns::KnomialPlace place(b, 0, params.value);
  for (std::int64_t step = 1; step < place.end; step *= place.radix) {
    place.for_each_child(step, [&](Rank child, Rank) { b.receive(child, {}); });
    b.round();
  }
  if (place.v != 0) {
    b.send(place.parent(), {});
    b.round();
    b.receive(place.parent(), {});
  }
  for (std::int64_t step = place.end / place.radix; step > 0; step /= place.radix) {
    b.round();
    place.for_each_child(step, [&](Rank child, Rank) { b.send(child, {}); });
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "barrier/tree",
    .summary = "up a k-nomial tree to rank 0 and down again; fewest messages",
    .source = "Yew, Tzeng and Lawrie 1987; Mellor-Crummey and Scott 1991",
    .volume = "0",
    .collective = Collective::barrier,
    .needs = {},
    .parameter = {.name = "radix", .least = 2, .default_value = [](const Shape&) -> std::int64_t { return 2; }},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return 2 * patterns::ceil_log(s.ranks, params.value);
    },
    .sent = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::barrier_tree

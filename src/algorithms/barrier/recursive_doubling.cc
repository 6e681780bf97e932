// SPDX-License-Identifier: BSD-3-Clause
//
// barrier/recursive_doubling: partners at distance 1, 2, 4, … tell each other that they, and all they know of, came.
//
//   rounds    lg p if p = 2^k; else 2 + floor(lg p)
//   volume    none: empty messages
//   combined  none
//   scratch   none
//   needs     nothing
//   source    the butterfly barrier of Brooks (1986); fold as in Rabenseifner 2004, section 3.5
//
// If p is no power of two, one rank of each surplus pair only tells its neighbour, and hears from it in the end.
//
//   p = 5   1→0   0↔2 3↔4   0↔3 2↔4   0→1

#include "algorithms/list.hpp"
#include "algorithms/patterns/halving.hpp"

namespace stretto::algorithms::barrier_recursive_doubling {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  const patterns::Fold fold(b.ranks(), no_rank);
  const Rank me = b.rank();
  if (fold.removed(me)) {
    b.send(me ^ 1, {});
    b.round();
    b.receive(me ^ 1, {});
    return;
  }
  if (fold.paired(me)) b.receive(me ^ 1, {});
  b.in_group(fold.kept(b.rank()), [](Builder& group) {
    for (Rank mask = 1; mask < group.ranks(); mask *= 2) {
      group.round();
      group.send(group.rank() ^ mask, {});
      group.receive(group.rank() ^ mask, {});
    }
  });
  b.round();
  if (fold.paired(me)) b.send(me ^ 1, {});
}

}  // namespace

constinit const Algorithm record{
    .id = "barrier/recursive_doubling",
    .summary = "partners at distance 1, 2, 4, … tell each other who came; best if p = 2^k",
    .source = "Brooks 1986; Rabenseifner 2004",
    .volume = "0",
    .collective = Collective::barrier,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t {
      return patterns::floor_log2(s.ranks) + (patterns::is_power_of_two(s.ranks) ? 0 : 2);
    },
    .sent = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::barrier_recursive_doubling

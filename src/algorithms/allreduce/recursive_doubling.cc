// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/recursive_doubling: partners at distance 1, 2, 4, … exchange what they have reduced so far.
//
//   rounds    lg p; else 2 + floor(lg p)
//   volume    as many vectors as rounds
//   combined  lg p vectors; else 1 + floor(lg p)
//   scratch   one vector
//   needs     nothing: rank order is kept
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.5
//
//   p = 6   round 1: 1→0 3→2   then among 0 2 4 5: 0↔2 4↔5, 0↔4 2↔5   round 4: 0→1 2→3

#include "algorithms/list.hpp"
#include "algorithms/patterns/halving.hpp"

namespace stretto::algorithms {
namespace {

void exchange(Builder& b, Buffer from) {
  const Block arrived = b.new_scratch(0, 1);
  for (Rank mask = 1; mask < b.ranks(); mask *= 2) {
    const Rank partner = b.rank() ^ mask;
    const Ranges mine = {{mask == 1 ? from : Buffer::output, 0, 1}};
    b.round();
    b.send(partner, mine);
    b.receive(partner, scratch(arrived));
    b.round();  // what is sent may be overwritten only after it has left
    b.reduce(scratch(arrived), output(0), partner < b.rank() ? Side::left : Side::right, mine);
  }
}

void build(Builder& b, const Shape&, const Params&) {
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  const patterns::Fold fold(b.ranks(), no_rank);
  const bool paired = fold.paired(b.rank());
  const bool removed = fold.removed(b.rank());
  const Rank partner = b.rank() ^ 1;
  if (removed) b.send(partner, input(0));
  if (paired && !removed) b.receive_reduce(partner, output(0), Side::right, input(0));
  b.in_group(fold.kept(), [&](Builder& group) { exchange(group, paired ? Buffer::output : Buffer::input); });
  b.round();
  if (removed) b.receive(partner, output(0));
  if (paired && !removed) b.send(partner, output(0));
}

std::int64_t steps(const Shape& s, const Params& = {}) {
  return patterns::floor_log2(s.ranks) + (patterns::is_power_of_two(s.ranks) ? 0 : 2);
}

}  // namespace

constinit const Algorithm allreduce_recursive_doubling{
    .id = "allreduce/recursive_doubling",
    .summary = "partners at distance 1, 2, 4, … exchange whole vectors; fewest rounds, in rank order",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.5",
    .volume = "lg p if p = 2^k, else 2 + floor(lg p)",
    .collective = Collective::allreduce,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = steps,
    .sent = steps,
    .combined = [](const Shape& s, const Params&) -> std::int64_t {
      return patterns::floor_log2(s.ranks) + (patterns::is_power_of_two(s.ranks) ? 0 : 1);
    },
    .build = build,
};

}  // namespace stretto::algorithms

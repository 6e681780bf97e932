// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/sparbit: distances fall from the largest power of two to 1, so that only small messages go far.
//
//   rounds    ceil(lg p)
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Loch and Koslovski, Sparbit (2021)
//
// In the round of distance d a rank has every 2d-th block before its own. Blocks arrive where they belong, but the
// messages are of single blocks.
//
//   p = 5, blocks arriving at rank 0: 1, then 3, then 4 2

#include <algorithm>

#include "algorithms/list.hpp"
#include "algorithms/patterns/powers.hpp"

namespace stretto::algorithms::allgather_sparbit {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  b.copy(input(b.rank()), output(b.rank()));
  const Rank p = b.ranks();
  const auto every = [&](Rank first, Rank step, Rank count) {
    Ranges ranges;
    for (Rank i = 0; i < count; ++i) ranges.push_back({Buffer::output, patterns::modulo(first - i * step, p), 1});
    return ranges;
  };
  Rank have = 1;
  for (Rank d = Rank{1} << patterns::ceil_log2(p) >> 1; d > 0; d /= 2) {
    const Rank news = (p + d - 1) / d - have;
    b.round();
    b.send(patterns::modulo(b.rank() + d, p), every(b.rank(), 2 * d, news));
    b.receive(patterns::modulo(b.rank() - d, p), every(b.rank() - d, 2 * d, news));
    have += news;
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/sparbit",
    .summary =
        "doubling from far to near; fewest single-message rounds, large messages to neighbours, nothing to rotate",
    .source = "Loch and Koslovski, Sparbit (2021)",
    .volume = "(p-1)/p",
    .collective = Collective::allgather,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::allgather_sparbit

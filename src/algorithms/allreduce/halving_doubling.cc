// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/halving_doubling: reduce-scatter by vector halving and distance doubling, then allgather by the way back.
//
//   rounds    2 lg p if p = 2^k; else 3 + 2 floor(lg p)
//   volume    2(p-1)/p of the vector if p = 2^k; else about 4 vectors      with p' = 2^floor(lg p): 2 + 2(p'-1)/p'
//   combined  (p-1)/p of the vector if p = 2^k; else 1/2 more
//   scratch   none
//   needs     nothing: rank order is kept
//   source    Rabenseifner 2004, section 3.5; Thakur, Rabenseifner and Gropp 2005, section 5.1
//
//   p = 4, blocks held after each round   rank 0: 01 0 01 0123   rank 1: 23 2 23 0123
//                                         rank 2: 01 1 01 0123   rank 3: 23 3 23 0123

#include "algorithms/list.hpp"
#include "algorithms/patterns/halving.hpp"

namespace stretto::algorithms::allreduce_halving_doubling {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  const patterns::Fold fold(b.ranks(), no_rank);
  patterns::fold_pairs(b, fold, Buffer::output);
  const Buffer from = fold.paired(b.rank()) ? Buffer::output : Buffer::input;
  b.in_group(fold.kept(b.rank()), [&](Builder& group) {
    patterns::halving_reduce_scatter(group, from, Buffer::output);
    patterns::doubling_allgather(group);
  });
  if (!fold.paired(b.rank())) return;
  b.round();
  if (fold.removed(b.rank()))
    b.receive(b.rank() ^ 1, output(0, b.blocks()));
  else
    b.send(b.rank() ^ 1, output(0, b.blocks()));
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/halving_doubling",
    .summary = "vector halving with distance doubling, and back; least volume in few rounds if p = 2^k, in rank order",
    .source = "Rabenseifner 2004, section 3.5; Thakur, Rabenseifner and Gropp 2005, section 5.1",
    .volume = "2(p-1)/p if p = 2^k, else 2 + 2(p'-1)/p'",
    .collective = Collective::allreduce,
    .needs = {},
    .blocks = patterns::kept_ranks,
    .rounds = [](const Shape& s, const Params&) -> std::int64_t {
      return 2 * patterns::floor_log2(s.ranks) + (patterns::is_power_of_two(s.ranks) ? 0 : 3);
    },
    .sent = [](const Shape& s, const Params&) -> std::int64_t {
      return 2 * (patterns::kept_ranks(s) - 1) + (patterns::is_power_of_two(s.ranks) ? 0 : 2 * patterns::kept_ranks(s));
    },
    .combined = [](const Shape& s, const Params&) -> std::int64_t {
      return patterns::kept_ranks(s) - 1 + (patterns::is_power_of_two(s.ranks) ? 0 : patterns::kept_ranks(s) / 2);
    },
    .build = build,
};

}  // namespace stretto::algorithms::allreduce_halving_doubling

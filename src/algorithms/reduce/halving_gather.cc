// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/halving_gather: reduce-scatter by vector halving and distance doubling, then a binomial gather to the root.
//
//   rounds    2 lg p if p = 2^k; else 2 + 2 floor(lg p)
//   volume    2(p-1)/p of the vector if p = 2^k; else about 3 vectors      with p' = 2^floor(lg p): 1 + 2(p'-1)/p'
//   combined  (p-1)/p of the vector if p = 2^k; else 1/2 more
//   scratch   one vector, not on the root
//   needs     nothing: rank order is kept
//   source    Rabenseifner 2004, section 3.5; Thakur, Rabenseifner and Gropp 2005, section 5.1
//
// If p is no power of two, pairs of ranks are folded. When the root is the one of its pair that would be removed, the
// two change roles, which costs nothing.

#include "algorithms/list.hpp"
#include "algorithms/patterns/halving.hpp"

namespace stretto::algorithms::reduce_halving_gather {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  const patterns::Fold fold(b.ranks(), shape.root);
  const Buffer work = b.rank() == shape.root ? Buffer::output : Buffer::scratch;
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  if (work == Buffer::scratch) b.new_scratch(0, b.blocks());
  patterns::fold_pairs(b, fold, work);
  const Buffer from = fold.paired(b.rank()) ? work : Buffer::input;
  b.in_group(fold.kept(b.rank()), [&](Builder& group) {
    patterns::halving_reduce_scatter(group, from, work);
    patterns::doubling_gather(group, fold.place(shape.root), work);
  });
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce/halving_gather",
    .summary = "reduce-scatter by vector halving, then gather to the root; for long vectors, in rank order",
    .source = "Rabenseifner 2004, section 3.5; Thakur, Rabenseifner and Gropp 2005, section 5.1",
    .volume = "2(p-1)/p if p = 2^k, else 1 + 2(p'-1)/p'",
    .collective = Collective::reduce,
    .needs = {},
    .blocks = patterns::kept_ranks,
    .rounds = [](const Shape& s, const Params&) -> std::int64_t {
      return 2 * patterns::floor_log2(s.ranks) + (patterns::is_power_of_two(s.ranks) ? 0 : 2);
    },
    .sent = [](const Shape& s, const Params&) -> std::int64_t {
      return 2 * (patterns::kept_ranks(s) - 1) + (patterns::is_power_of_two(s.ranks) ? 0 : patterns::kept_ranks(s));
    },
    .combined = [](const Shape& s, const Params&) -> std::int64_t {
      return patterns::kept_ranks(s) - 1 + (patterns::is_power_of_two(s.ranks) ? 0 : patterns::kept_ranks(s) / 2);
    },
    .build = build,
};

}  // namespace stretto::algorithms::reduce_halving_gather

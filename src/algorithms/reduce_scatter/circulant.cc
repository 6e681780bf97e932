// SPDX-License-Identifier: BSD-3-Clause
//
// reduce_scatter/circulant: every rank sends away the further part of its blocks, with skips p/2, p/4, …, 1.
//
//   rounds    ceil(lg p) with the default skips, else their number
//   volume    (p-1)/p of the vector: the least possible
//   combined  (p-1)/p of the vector
//   scratch   floor(p/2) - 1 blocks, with other skips the largest difference of two less 1
//   needs     a commutative operator
//   source    Träff, arXiv 2410.14234
//
// The list "skips" falls from below p to 1, each at least half of the one before: p - 1, p - 2, …, 1 takes p - 1 rounds
// of one block and needs no scratch, powers of two are Bruck's allgather backwards.
//
//   p = 5, skips 3 2 1: rank r sends, of the blocks counted from its own, 3 4 to r+3, then 2 to r+2, then 1 to r+1

#include <algorithm>

#include "algorithms/list.hpp"
#include "algorithms/patterns/circulant.hpp"

namespace stretto::algorithms::reduce_scatter_circulant {
namespace {

void build(Builder& b, const Shape&, const Params& params) {
  const Rank r = b.rank();
  const Rank p = b.ranks();
  if (p == 1) return b.copy(input(0), output(0));
  const std::vector<Rank> skips = patterns::given_skips(p, params.list);
  Rank begun = 0;  // so many relative blocks have partial results here
  for (std::size_t j = 0; j + 1 < skips.size(); ++j) begun = std::max(begun, skips[j] - skips[j + 1]);
  // The own block is reduced in the output, relative block i > 0 in scratch slot i - 1.
  for (Rank i = 1; i < begun; ++i) b.new_scratch(patterns::modulo(r + i, p), 1);
  const auto place = [&](Rank first, Rank count) {
    Ranges ranges;
    if (first == 0 && count > 0) ranges.push_back({Buffer::output, r, 1});
    const Rank others = std::max(first, 1);
    if (first + count > others) ranges.push_back({Buffer::scratch, others - 1, first + count - others});
    return ranges;
  };
  patterns::circulant_reduce_scatter(b, skips, place);
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce_scatter/circulant",
    .summary = "halving on a circulant graph; least volume in the fewest single-message rounds for any p",
    .source = "Träff, arXiv 2410.14234",
    .volume = "(p-1)/p",
    .collective = Collective::reduce_scatter,
    .needs = {.commutative = true},
    .list = "skips",
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t { return patterns::steps_of(s, params); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
    .misfit = patterns::skips_misfit,
};

}  // namespace stretto::algorithms::reduce_scatter_circulant

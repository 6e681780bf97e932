// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/circulant: reduce-scatter with skips p/2, p/4, …, 1 (rounded up), then allgather with them reversed.
//
//   rounds    2 ceil(lg p) with the default skips, else twice their number
//   volume    2(p-1)/p of the vector: the least possible
//   combined  (p-1)/p of the vector
//   scratch   none
//   needs     a commutative operator
//   source    Träff, arXiv 2410.14234
//
// The list "skips" falls from below p to 1, each at least half of the one before; p - 1, p - 2, …, 1 takes 2(p-1)
// rounds of one block.
//
//   p = 5, skips 3 2 1: rank r sends, of the blocks counted from its own, 3 4 to r+3, then 2 to r+2, then 1 to r+1

#include "algorithms/patterns/circulant.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::allreduce_circulant {
namespace {

void build(Builder& b, const Shape&, const Params& params) {
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  const std::vector<Rank> skips = patterns::given_skips(b.ranks(), params.list);
  patterns::circulant_reduce_scatter(
      b, skips, [&](Rank first, Rank count) { return wrapped(Buffer::output, b.rank() + first, count, b.ranks()); });
  patterns::circulant_allgather(b, skips, Buffer::output);
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/circulant",
    .summary = "reduce-scatter and allgather on a circulant graph; least volume in few rounds for any p",
    .source = "Träff, arXiv 2410.14234",
    .volume = "2(p-1)/p",
    .collective = Collective::allreduce,
    .needs = {.commutative = true},
    .list = "skips",
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t { return 2 * patterns::steps_of(s, params); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
    .misfit = patterns::skips_misfit,
};

}  // namespace stretto::algorithms::allreduce_circulant

// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/circulant: like allgather/bruck with skips p/2, p/4, …, 1 rounded up, so that rounds are of even size.
//
//   rounds    ceil(log2 p)
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Träff, arXiv 2410.14234
//
//   p = 5, skips 1 2 3, blocks arriving at rank 0: 1, then 2, then 3 4

#include "algorithms/patterns/circulant.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  b.copy(input(b.rank()), output(b.rank()));
  patterns::circulant_allgather(b, patterns::halved_skips(b.ranks()), Buffer::output);
}

}  // namespace

constinit const Algorithm allgather_circulant{
    .id = "allgather/circulant",
    .summary = "doubling on a circulant graph; fewest rounds, of even size for any p",
    .source = "Träff, arXiv 2410.14234",
    .volume = "(p-1)/p",
    .collective = Collective::allgather,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms

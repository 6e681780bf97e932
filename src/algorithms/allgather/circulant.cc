// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/circulant: like allgather/bruck with skips p/2, p/4, …, 1 rounded up, or with any others.
//
//   rounds    ceil(lg p) with the default skips, else their number
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Träff, arXiv 2410.14234
//
// The default makes each round about twice as large as the last. The list "skips" falls from below p to 1, each at
// least half of the one before; powers of two give allgather/bruck, p - 1, p - 2, …, 1 gives p - 1 rounds of one block.
//
//   p = 5, skips 1 2 3, blocks arriving at rank 0: 1, then 2, then 3 4

#include "algorithms/patterns/circulant.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::allgather_circulant {
namespace {

void build(Builder& b, const Shape&, const Params& params) {
  b.copy(input(b.rank()), output(b.rank()));
  patterns::circulant_allgather(b, patterns::given_skips(b.ranks(), params.list), Buffer::output);
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/circulant",
    .summary = "doubling on a circulant graph; fewest single-message rounds, each about twice the last, for any p",
    .source = "Träff, arXiv 2410.14234",
    .volume = "(p-1)/p",
    .collective = Collective::allgather,
    .needs = {},
    .list = "skips",
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t { return patterns::steps_of(s, params); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::skips_misfit,
};

}  // namespace stretto::algorithms::allgather_circulant

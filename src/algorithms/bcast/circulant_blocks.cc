// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/circulant_blocks: n blocks follow each other along a circulant graph, and every rank gets a new one each round.
//
//   rounds    n - 1 + ceil(lg p): the least possible for n blocks
//   volume    (n - 1 + ceil(lg p)) / n of the vector
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Träff, arXiv 2312.11236 and 2407.18004
//
// The parameter "pieces" is n. The schedule is explained in patterns/circulant_blocks.hpp. With a round's cost a and a
// byte's cost b the best n for m bytes is sqrt((ceil(lg p) - 1) m b / a); the default knows no m: rules set it.
//
//   p = 3, root 0, n = 2   round 1: 0→2 [0]   round 2: 0→1 [1]   round 3: 0→2 [1], 2→1 [0]

#include "algorithms/patterns/circulant_blocks.hpp"
#include "algorithms/list.hpp"
#include "algorithms/patterns/groups.hpp"

namespace stretto::algorithms::bcast_circulant_blocks {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  b.in_group(patterns::from_root(b, shape.root), patterns::circulant_blocks_bcast);
}

std::int64_t rounds(const Shape& s, const Params& params) {
  return patterns::CirculantBlocks::rounds(s.ranks, params.value);
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/circulant_blocks",
    .summary = "n blocks follow each other on a circulant graph; fewest rounds for n blocks, for any p",
    .source = "Träff, arXiv 2312.11236 and 2407.18004",
    .volume = "(n-1+ceil(lg p))/n",
    .collective = Collective::bcast,
    .needs = {},
    .parameter = {.name = "pieces", .least = 1, .default_value = [](const Shape&) -> std::int64_t { return 8; }},
    .blocks = [](const Shape&, const Params& params) -> Block { return params.value; },
    .rounds = rounds,
    .sent = rounds,
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::bcast_circulant_blocks

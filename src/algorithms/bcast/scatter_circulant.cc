// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/scatter_circulant: the root scatters the vector along a binomial tree, then doubling on a circulant graph.
//
//   rounds    2 ceil(lg p)
//   volume    2(p-1)/p of the vector
//   combined  none
//   scratch   none
//   needs     nothing
//   source    van de Geijn's algorithm; the allgather of Träff, arXiv 2410.14234
//
//   p = 3, root 0   round 1: 0→2 [2]   round 2: 0→1 [1]   round 3: v → v-1 [v]   round 4: v → v-2 [v]

#include "algorithms/list.hpp"
#include "algorithms/patterns/circulant.hpp"
#include "algorithms/patterns/groups.hpp"
#include "algorithms/patterns/scatter_bcast.hpp"

namespace stretto::algorithms::bcast_scatter_circulant {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  patterns::binomial_bcast_scatter(b, shape.root);
  b.in_group(patterns::from_root(b, shape.root), [](Builder& group) {
    patterns::circulant_allgather(group, patterns::halved_skips(group.ranks()), Buffer::output);
  });
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/scatter_circulant",
    .summary =
        "scatter along a binomial tree, then allgather on a circulant graph; least volume in few rounds for any p",
    .source = "van de Geijn's algorithm; the allgather of Träff, arXiv 2410.14234",
    .volume = "2(p-1)/p",
    .collective = Collective::bcast,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return 2 * patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::bcast_scatter_circulant

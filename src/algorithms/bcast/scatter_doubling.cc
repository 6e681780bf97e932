// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/scatter_doubling: the root scatters the vector along a binomial tree, then recursive doubling gathers it.
//
//   rounds    2 lg p if p = 2^k; else more, as for allgather/recursive_doubling
//   volume    2(p-1)/p of the vector if p = 2^k; else more
//   combined  none
//   scratch   none
//   needs     nothing
//   source    van de Geijn's algorithm, as in Thakur, Rabenseifner and Gropp 2005, section 4.2
//
//   p = 4, root 0   round 1: 0→2 [2 3]   round 2: 0→1 [1], 2→3 [3]   then 0↔1 2↔3, then 0↔2 1↔3

#include <vector>

#include "algorithms/list.hpp"
#include "algorithms/patterns/doubling.hpp"
#include "algorithms/patterns/groups.hpp"
#include "algorithms/patterns/scatter_bcast.hpp"

namespace stretto::algorithms::bcast_scatter_doubling {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  patterns::binomial_bcast_scatter(b, shape.root);
  b.in_group(patterns::from_root(b, shape.root),
             [](Builder& group) { patterns::recursive_doubling_allgather(group, 0, group.ranks()); });
}

patterns::Clock cost(const Shape& s) {
  std::vector<patterns::Clock> clocks = patterns::binomial_bcast_scatter_clocks(s.ranks);
  patterns::recursive_doubling_allgather(clocks);
  return patterns::latest(clocks);
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/scatter_doubling",
    .summary = "scatter along a binomial tree, then allgather by recursive doubling; best if p = 2^k",
    .source = "van de Geijn's algorithm, as in Thakur, Rabenseifner and Gropp 2005, section 4.2",
    .volume = "2(p-1)/p if p = 2^k, else more",
    .collective = Collective::bcast,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return cost(s).rounds; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return cost(s).sent; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::bcast_scatter_doubling

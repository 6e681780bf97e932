// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/leaders: every node is reduced at its leader, the leaders combine theirs by recursive multiplying, and
// back.
//
//   rounds    lg N for N = 2^i nodes, and 2 on them; other N: as allreduce/recursive_multiplying on N ranks
//   volume    2(n-1) vectors on a node of n ranks, and lg N from node to node if k = 2
//   combined  n-1 vectors on a node, and lg N
//   scratch   k - 1 vectors, on leaders
//   needs     a commutative operator
//   source    trees that know the levels of the network (Karonis et al. 2000); recursive multiplying as there
//
// For short vectors. The list "nodes" says which node each rank is on; in groups of further levels binomial trees lead
// to the groups' leaders and back. The parameter "radix" is k.
//
//   nodes=0:0:1:1   1→0 3→2   0↔2   0→1 2→3

#include "algorithms/patterns/leaders.hpp"
#include "algorithms/list.hpp"
#include "algorithms/patterns/multiplying.hpp"

namespace stretto::algorithms::allreduce_leaders {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::Leaders leaders(shape, params, 0, 2);
  const patterns::LeaderPlace place = leaders.place(b.rank(), leaders.top());
  patterns::in_order_reduce(b, patterns::upwards(place), [] { return output(0); });
  b.round();
  if (place.parent == no_rank)
    b.in_group(leaders.at(leaders.top(), b.rank()), [&](Builder& top) {
      patterns::recursive_multiplying(top, patterns::radices(top.ranks(), params.value), Buffer::output);
    });
  patterns::leaders_bcast(b, place);
}

/// What the levels below the top do on the way up or down, and what the leaders on top do.
std::int64_t below(const patterns::Nodes& nodes) {
  return patterns::over_leaders(nodes, nodes.levels() - 1, [](Rank n) { return patterns::ceil_log2(n); });
}
std::int64_t vectors(const Shape& s, const Params& params, std::int64_t ways, std::int64_t folding) {
  const patterns::Nodes nodes(s.ranks, params.list, 0);
  const Rank top = nodes.largest(nodes.levels() - 1);
  return ways * (nodes.largest(0) - 1 + below(nodes)) +
         patterns::multiplying_vectors(top, patterns::radices(top, params.value), folding);
}
std::int64_t rounds(const Shape& s, const Params& params) {
  const patterns::Nodes nodes(s.ranks, params.list, 0);
  const Rank top = nodes.largest(nodes.levels() - 1);
  return 2 * ((nodes.largest(0) > 1 ? 1 : 0) + below(nodes)) +
         patterns::multiplying_rounds(top, patterns::radices(top, params.value));
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/leaders",
    .summary = "one leader for each node combines its ranks' vectors, the leaders exchange theirs; for short vectors",
    .source = "Karonis et al. 2000; Wilkins et al., CLUSTER 2023",
    .volume = "2(n-1) + lg N for N = 2^i nodes of n ranks",
    .collective = Collective::allreduce,
    .needs = {.commutative = true},
    .parameter = {.name = "radix", .least = 2, .default_value = [](const Shape&) -> std::int64_t { return 2; }},
    .list = "nodes",
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = rounds,
    .sent = [](const Shape& s, const Params& params) -> std::int64_t { return vectors(s, params, 2, 2); },
    .combined = [](const Shape& s, const Params& params) -> std::int64_t { return vectors(s, params, 1, 1); },
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = patterns::uneven_nodes,
};

}  // namespace stretto::algorithms::allreduce_leaders

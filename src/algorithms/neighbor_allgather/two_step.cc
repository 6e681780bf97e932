// SPDX-License-Identifier: BSD-3-Clause
//
// neighbor_allgather/two_step: to one rank of the other node, which hands out, each part once.
//
//   rounds    2
//   volume    a part for each node with neighbours, and what is handed out
//   combined  none
//   scratch   the parts that are handed out and not wanted
//   needs     nothing; all ranks know the graph, and rules which ranks share a node
//   source    2-step of Bienz, Gropp and Olson, "Reducing communication in algebraic multigrid with multi-step
//             node aware communication", 2020
//
//   nodes 0 1 and 2 3, rank 0 with neighbours 1 2 3   to 1, to 2: its parts for 2 and 3   2 to 3: what is for 3

#include "algorithms/list.hpp"
#include "algorithms/patterns/routes_on_nodes.hpp"

namespace stretto::algorithms::neighbor_allgather_two_step {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::TwoStepRoute route(shape, params);
  patterns::build_routes(b, *graph_of(shape), Collective::neighbor_allgather, route.steps(), route);
}

patterns::RouteCost cost(const Shape& shape, const Params& params) {
  const patterns::TwoStepRoute route(shape, params);
  return patterns::route_cost(*graph_of(shape), Collective::neighbor_allgather, route.steps(), route);
}

}  // namespace

constinit const Algorithm record{
    .id = "neighbor_allgather/two_step",
    .summary = "to one rank of the other node, which hands out",
    .source = "Bienz, Gropp and Olson 2020",
    .volume = "at most 2",
    .collective = Collective::neighbor_allgather,
    .needs = {.whole_graph = true},
    .list = "nodes",
    .forwards = true,
    .blocks = [](const Shape& s, const Params&) -> Block { return graph_of(s)->slots(); },
    .rounds = [](const Shape& s, const Params& p) -> std::int64_t { return cost(s, p).rounds; },
    .sent = [](const Shape& s, const Params& p) -> std::int64_t { return cost(s, p).sent; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = [](const Shape&, const Params&) { return true; },
};

}  // namespace stretto::algorithms::neighbor_allgather_two_step

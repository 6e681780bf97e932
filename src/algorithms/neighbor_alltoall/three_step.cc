// SPDX-License-Identifier: BSD-3-Clause
//
// neighbor_alltoall/three_step: one message from node to node: one rank gathers, one hands out.
//
//   rounds    3
//   volume    at most three parts for each neighbour
//   combined  none
//   scratch   the blocks that are passed on
//   needs     nothing; all ranks know the graph, and rules which ranks share a node
//   source    3-step of Bienz, Gropp and Olson, "Node aware sparse matrix-vector multiplication", 2019
//
//   nodes 0 1 and 2 3, all neighbours   1 to 0: for 2 and 3   0 to 2: all for 2 and 3   2 to 3: what is for 3

#include "algorithms/list.hpp"
#include "algorithms/patterns/routes_on_nodes.hpp"

namespace stretto::algorithms::neighbor_alltoall_three_step {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::ThreeStepRoute route(shape, params);
  patterns::build_routes(b, *graph_of(shape), Collective::neighbor_alltoall, route.steps(), route);
}

patterns::RouteCost cost(const Shape& shape, const Params& params) {
  const patterns::ThreeStepRoute route(shape, params);
  return patterns::route_cost(*graph_of(shape), Collective::neighbor_alltoall, route.steps(), route);
}

}  // namespace

constinit const Algorithm record{
    .id = "neighbor_alltoall/three_step",
    .summary = "one message from node to node: one rank gathers, one hands out",
    .source = "Bienz, Gropp and Olson 2019",
    .volume = "at most 3",
    .collective = Collective::neighbor_alltoall,
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

}  // namespace stretto::algorithms::neighbor_alltoall_three_step

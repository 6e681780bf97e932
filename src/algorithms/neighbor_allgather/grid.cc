// SPDX-License-Identifier: BSD-3-Clause
//
// neighbor_allgather/grid: dimension by dimension on a torus or grid, what goes the same way in one message, each part
// once.
//
//   rounds    n for n dimensions; 2n messages of a rank in a stencil with 3^n - 1 neighbours
//   volume    a part for each rank that it passes: the least in a stencil
//   combined  none
//   scratch   the parts that are passed on and not wanted
//   needs     nothing; all ranks know the graph
//   source    Träff, Carpen-Amarie, Hunold and Rougier 2016 (message-combining); Träff and Hunold 2019 (Cartesian)
//
//   stencil on a 3 x 3 torus, rank 0   to 3 6: its part   to 1 2: its own and those of 3 and 6

#include "algorithms/list.hpp"
#include "algorithms/patterns/routes_on_grid.hpp"

namespace stretto::algorithms::neighbor_allgather_grid {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::GridRoute route(params);
  patterns::build_routes(b, *graph_of(shape), Collective::neighbor_allgather, route.steps(), route);
}

patterns::RouteCost cost(const Shape& shape, const Params& params) {
  const patterns::GridRoute route(params);
  return patterns::route_cost(*graph_of(shape), Collective::neighbor_allgather, route.steps(), route);
}

}  // namespace

constinit const Algorithm record{
    .id = "neighbor_allgather/grid",
    .summary = "dimension by dimension, what goes the same way in one message",
    .source = "Träff, Carpen-Amarie, Hunold and Rougier 2016; Träff and Hunold 2019",
    .volume = "the parts passed on",
    .collective = Collective::neighbor_allgather,
    .needs = {.whole_graph = true},
    .list = "dims",
    .forwards = true,
    .blocks = [](const Shape& s, const Params&) -> Block { return graph_of(s)->slots(); },
    .rounds = [](const Shape& s, const Params& p) -> std::int64_t { return cost(s, p).rounds; },
    .sent = [](const Shape& s, const Params& p) -> std::int64_t { return cost(s, p).sent; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::dims_misfit,
    .at_most = [](const Shape&, const Params&) { return true; },
};

}  // namespace stretto::algorithms::neighbor_allgather_grid

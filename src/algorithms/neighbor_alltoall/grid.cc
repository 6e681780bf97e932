// SPDX-License-Identifier: BSD-3-Clause
//
// neighbor_alltoall/grid: dimension by dimension on a torus or grid, what goes the same way in one message.
//
//   rounds    n for n dimensions; 2n messages of a rank in a stencil with 3^n - 1 neighbours
//   volume    that of each block, once for each dimension in which its ends differ: at most n times the least
//   combined  none
//   scratch   the blocks that are passed on
//   needs     nothing; all ranks know the graph
//   source    Träff, Carpen-Amarie, Hunold and Rougier 2016 (message-combining); Träff and Hunold 2019 (Cartesian)
//
//   stencil on a 3 x 3 torus, rank 0   to 3 6   to 1 2: two messages of three parts, then two of three

#include "algorithms/list.hpp"
#include "algorithms/patterns/routes_on_grid.hpp"

namespace stretto::algorithms::neighbor_alltoall_grid {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::GridRoute route(params);
  patterns::build_routes(b, *graph_of(shape), Collective::neighbor_alltoall, route.steps(), route);
}

patterns::RouteCost cost(const Shape& shape, const Params& params) {
  const patterns::GridRoute route(params);
  return patterns::route_cost(*graph_of(shape), Collective::neighbor_alltoall, route.steps(), route);
}

}  // namespace

constinit const Algorithm record{
    .id = "neighbor_alltoall/grid",
    .summary = "dimension by dimension, what goes the same way in one message",
    .source = "Träff, Carpen-Amarie, Hunold and Rougier 2016; Träff and Hunold 2019",
    .volume = "at most n for n dimensions",
    .collective = Collective::neighbor_alltoall,
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

}  // namespace stretto::algorithms::neighbor_alltoall_grid

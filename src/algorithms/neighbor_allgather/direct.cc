// SPDX-License-Identifier: BSD-3-Clause
//
// neighbor_allgather/direct: the part straight to all neighbours, all at once.
//
//   rounds    1, of as many messages as there are neighbours
//   volume    d, the most neighbours of a rank: parts
//   combined  none
//   scratch   none
//   needs     nothing; a rank need know its own neighbours only
//   source    MPI 4.1, section 8.6: the definition
//
//   2 x 2 torus, rank 0   to 2 2 1 1   from 2 2 1 1: in each dimension both neighbours are the same rank

#include "algorithms/list.hpp"
#include "algorithms/patterns/direct_neighbours.hpp"

namespace stretto::algorithms::neighbor_allgather_direct {
namespace {

void build(Builder& b, const Shape& shape, const Params&) { patterns::direct_neighbours(b, *graph_of(shape), false); }

}  // namespace

constinit const Algorithm record{
    .id = "neighbor_allgather/direct",
    .summary = "the part straight to all neighbours, all at once",
    .source = "MPI 4.1, section 8.6",
    .volume = "1",
    .collective = Collective::neighbor_allgather,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return graph_of(s)->slots(); },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::most_neighbours(s) > 0 ? 1 : 0; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return patterns::most_neighbours(s); },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::neighbor_allgather_direct

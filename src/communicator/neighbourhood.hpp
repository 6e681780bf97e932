// SPDX-License-Identifier: BSD-3-Clause
//
// The graph of a communicator with a topology, as the MPI tells it.
#pragma once

#include <memory>

#include "mpi/bootstrap.hpp"
#include "stretto/graph.hpp"

namespace stretto::mpi {

/// MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH or MPI_UNDEFINED.
int topology_of(MPI_Comm comm);
/// Also of an intercommunicator, which has none.
bool has_topology(MPI_Comm comm);

/// Of a grid or graph all neighbours, of a distributed graph those of `rank` alone. Null: `comm` has no topology, or
/// the MPI does not tell it.
std::shared_ptr<const Graph> graph_known_to(MPI_Comm comm, Rank rank, Rank ranks);

/// The neighbours of all ranks, from what each knows; `own` itself if that is all, if they would take too much memory,
/// or if they do not match. Collective.
std::shared_ptr<const Graph> graph_of_all(Bootstrap& all, std::shared_ptr<const Graph> own, Rank rank);

}  // namespace stretto::mpi

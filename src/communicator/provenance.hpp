// SPDX-License-Identifier: BSD-3-Clause
//
// Where the processes of a communicator come from. The ranks of the own MPI_COMM_WORLD are known to have Stretto, and
// to make their calls one after the other; others are not, and a communicator must be told apart on all its ranks
// alike, without a message to them.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/mpi_header.hpp"

namespace stretto::mpi {

enum class Provenance : std::uint8_t {
  world,    ///< nothing else is known of it
  session,  ///< made from a session's group: its threads may make calls while others use the world's communicators
  spawned,  ///< ranks spawned by this job, and their parents: they have the same Stretto if STRETTO_CHILDREN says so
};

Provenance provenance_of(MPI_Comm comm);
void set_provenance(MPI_Comm comm, Provenance provenance);

/// After the native function that made `child` from `parent`. MPI_Comm_dup and its kin need no such call.
void inherit_provenance(MPI_Comm parent, MPI_Comm child);

/// Has it ranks that may have no Stretto? On all ranks alike. `world_ranks` are its ranks in MPI_COMM_WORLD.
bool has_strangers(Provenance provenance, const std::vector<int>& world_ranks);
bool has_strangers(MPI_Comm comm);

}  // namespace stretto::mpi

// SPDX-License-Identifier: BSD-3-Clause
//
// Where the processes of a communicator come from. The ranks of the own MPI_COMM_WORLD are known to have Stretto, and
// to make their calls one after the other; others are not, and a communicator must be told apart on all its ranks
// alike, without a message to them. And what spawned processes are handed, so that they have Stretto too.
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

/// Has it ranks that may have no Stretto? On all ranks alike. `world_ranks` are its ranks in MPI_COMM_WORLD.
bool has_strangers(Provenance provenance, const std::vector<int>& world_ranks);
bool has_strangers(MPI_Comm comm);

/// What is given to MPI_Comm_spawn and MPI_Comm_spawn_multiple on `comm`: the program's infos, with the variables by
/// which the processes get Stretto as well, where the launcher said that they shall (STRETTO_CHILDREN) and the MPI
/// would not hand them these by itself.
class InfosOfChildren {
 public:
  InfosOfChildren(int n, const MPI_Info given[], MPI_Comm comm) {
    for (int i = 0; i < n; ++i) infos_.push_back(with_variables(given[i], comm));
  }
  ~InfosOfChildren();
  InfosOfChildren& operator=(InfosOfChildren&&) = delete;

  const MPI_Info* infos() const { return infos_.data(); }
  /// Do all processes get the variables?
  bool handed() const { return handed_; }

 private:
  MPI_Info with_variables(MPI_Info given, MPI_Comm comm);

  std::vector<MPI_Info> infos_, own_;
  bool handed_ = true;
};

/// After the native function, on all ranks of `comm`: what is known of the communicator with the new processes.
Provenance provenance_of_children(bool handed, int root, MPI_Comm comm);

}  // namespace stretto::mpi

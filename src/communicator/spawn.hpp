// SPDX-License-Identifier: BSD-3-Clause
//
// Processes that the program spawns get Stretto as well, where the launcher said that they shall (STRETTO_CHILDREN) and
// the MPI would not hand them the variables by itself.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "communicator/provenance.hpp"

namespace stretto::mpi {

/// What is given to MPI_Comm_spawn on `comm`: the program's info, with the variables if need be.
class InfoOfChildren {
 public:
  InfoOfChildren(MPI_Info given, MPI_Comm comm);
  ~InfoOfChildren();
  InfoOfChildren(const InfoOfChildren&) = delete;
  InfoOfChildren& operator=(const InfoOfChildren&) = delete;

  MPI_Info info() const { return info_; }
  /// Do they get the variables?
  bool handed() const { return handed_; }

 private:
  MPI_Info info_;
  bool own_ = false;
  bool handed_ = true;
};

/// Of MPI_Comm_spawn_multiple.
class InfosOfChildren {
 public:
  InfosOfChildren(int n, const MPI_Info given[], MPI_Comm comm) {
    for (int i = 0; i < n; ++i) infos_.push_back(each_.emplace_back(given[i], comm).info());
  }
  const MPI_Info* infos() const { return infos_.data(); }
  bool handed() const { return std::ranges::all_of(each_, &InfoOfChildren::handed); }

 private:
  std::deque<InfoOfChildren> each_;
  std::vector<MPI_Info> infos_;
};

/// After the native function, on all ranks of `comm`: what is known of the communicator with the new processes.
Provenance provenance_of_children(bool handed, int root, MPI_Comm comm);

/// The same of what MPI_Comm_get_parent gives.
Provenance provenance_of_parents();

}  // namespace stretto::mpi

// SPDX-License-Identifier: BSD-3-Clause
//
// What the launcher tells its processes in the environment: hints, on which no choice may rest unless all ranks agree.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

namespace stretto {

inline int first_number(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return -1;
}

/// -1 if unknown.
inline int launched_rank() { return first_number({"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"}); }

/// Ranks of this job on this node; -1 if unknown.
inline int launched_here() {
  return first_number({"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"});
}

/// Of this node; glibc reads it from a file.
inline int cores_online() {
  static const int cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return cores;
}

/// Has the node more ranks than cores, as far as the launcher says?
inline bool more_ranks_than_cores() { return launched_here() > cores_online(); }

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/queries.hpp"

#include "mpi/native.hpp"

namespace stretto::mpi {

bool world_is_up() {
  int initialized = 0, finalized = 0;
  native().Initialized(&initialized);
  native().Finalized(&finalized);
  return initialized && !finalized;
}

std::string library_version() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = {};
  int length = 0;
  native().Get_library_version(version, &length);
  return version;
}

std::string communicator_name(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  native().Comm_get_name(comm, name, &length);
  return name;
}

}  // namespace stretto::mpi

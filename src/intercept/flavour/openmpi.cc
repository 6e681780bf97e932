// SPDX-License-Identifier: BSD-3-Clause
//
// The Open MPI ABI.
#include <dlfcn.h>

#include "intercept/flavour/flavour.hpp"
#include "intercept/native.hpp"

namespace stretto::intercept::flavour {

std::string other_abi(void* handle, const std::string& path) {
  if (path.find("libmpi_abi.so") != std::string::npos) return "which has the MPI 5 standard ABI";
  if (handle && !dlsym(handle, "ompi_mpi_comm_world")) return "which has the MPICH ABI";
  return {};
}

int size_of_predefined(MPI_Datatype type) {
  int size = 0;
  if (!type || native().Type_size(type, &size) != MPI_SUCCESS) return 0;
  return size;
}

// Open MPI has no operators beyond the standard's.
bool is_predefined(MPI_Op) { return false; }

}  // namespace stretto::intercept::flavour

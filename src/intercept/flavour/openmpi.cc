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

// MPIX_C_FLOAT16 of mpi-ext.h: not in versions before 5, and empty where the compiler knew no such type.
std::vector<ShortFloat> short_floats() {
  const auto handle = static_cast<MPI_Datatype>(address_of_global("ompi_mpi_short_float"));
  if (size_of_predefined(handle) != 2) return {};
  return {{handle, reduce::Type::f16}};
}

// Open MPI has no operators beyond the standard's.
bool is_predefined(MPI_Op) { return false; }

}  // namespace stretto::intercept::flavour

// SPDX-License-Identifier: BSD-3-Clause
//
// The MPICH ABI: MPICH, Intel MPI, MVAPICH, Cray MPICH.
#include <dlfcn.h>

#include "mpi/flavour/flavour.hpp"

namespace stretto::intercept::flavour {

std::string other_abi(void* handle, const std::string& path) {
  if (path.find("libmpi_abi.so") != std::string::npos) return "which has the MPI 5 standard ABI";
  if (handle && dlsym(handle, "ompi_mpi_comm_world")) return "which has the Open MPI ABI";
  return {};
}

// Handles of basic types carry their size, so that types which an older MPI lacks need not be asked for.
int size_of_predefined(MPI_Datatype type) {
  const auto handle = static_cast<unsigned>(type);
  constexpr unsigned basic = 0x4c000000;
  return (handle & 0xff000000) == basic ? static_cast<int>(handle >> 8 & 0xff) : 0;
}

// By their numbers: the names are not the same in all headers, and older ones lack them.
std::vector<ShortFloat> short_floats() {
  return {{0x4c000246, reduce::Type::f16},    // MPIX_C_FLOAT16
          {0x4c000226, reduce::Type::f16},    // MPI_REAL2
          {0x4c00024c, reduce::Type::bf16},   // MPIX_BFLOAT16 of MPICH
          {0x4c000247, reduce::Type::bf16}};  // MPIX_C_BF16 of Intel MPI
}

bool is_predefined(MPI_Op op) {
  constexpr unsigned builtin = 0x58000000;
  return (static_cast<unsigned>(op) & 0xff000000) == builtin;
}

int alias_error(Function, Count elements) { return elements > 0 ? MPI_ERR_BUFFER : MPI_SUCCESS; }

const char* key_of_environment() { return nullptr; }

bool threads_may_make_communicators() { return true; }

// Hydra ends the job, unless it is told otherwise.
bool survives_faults() { return false; }
int fault_of(MPI_Comm) { return MPI_SUCCESS; }
bool is_revoked(MPI_Comm) { return false; }

int process_failed() { return 101; }  // MPIX_ERR_PROC_FAILED, which not all headers have

}  // namespace stretto::intercept::flavour

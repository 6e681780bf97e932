// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/gpu.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "mpi/bootstrap.hpp"
#include "mpi/native.hpp"
#include "settings/settings.hpp"

namespace stretto::mpi {
namespace {

/// Of the MPI, or of the program: extensions that an MPI need not have.
void* extension(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  if (found) return found;
  void* const library = dlopen(native().library, RTLD_LAZY | RTLD_NOLOAD);
  return library ? dlsym(library, name) : nullptr;
}

bool is_on(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && std::string_view(value) != "0" && *value;
}

bool mpi_takes_them() {
  for (const char* name :
       {"MPIX_Query_cuda_support", "MPIX_Query_rocm_support", "MPIX_Query_hip_support", "MPIX_Query_ze_support"})
    if (const auto ask = reinterpret_cast<int (*)()>(extension(name)); ask && ask() != 0) return true;
  if (const auto ask = reinterpret_cast<int (*)(int, int*)>(extension("MPIX_GPU_query_support"))) {
    constexpr int kinds = 3;  // MPICH's numbers of CUDA, Level Zero and HIP, of which an older one knows the first
    const ErrorsReturned quiet(constants().world);
    for (int kind = 0, there = 0; kind < kinds; ++kind)
      if (ask(kind, &there) == MPI_SUCCESS && there) return true;
  }
  // Intel MPI, Cray MPICH and MVAPICH are told by variables.
  for (const char* variable : {"I_MPI_OFFLOAD", "MPICH_GPU_SUPPORT_ENABLED", "MV2_USE_CUDA", "MV2_USE_ROCM"})
    if (is_on(variable)) return true;
  return false;
}

bool driver_is_loaded() {
  for (const char* name : {"libcuda.so.1", "libamdhip64.so", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7",
                           "libhsa-runtime64.so.1", "libze_loader.so.1"})
    if (void* const driver = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) return dlclose(driver) == 0;
  return false;
}

}  // namespace

bool buffers_may_be_on_gpu() { return settings().gpu && driver_is_loaded() && mpi_takes_them(); }

}  // namespace stretto::mpi

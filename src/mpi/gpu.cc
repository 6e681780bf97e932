// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/gpu.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
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

/// Of the files that are loaded: dlopen, asked for a name, would search the disk for it.
int look_for_driver(dl_phdr_info* info, std::size_t, void*) {
  const std::string_view path = info->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const std::string_view name : {"libcuda.so", "libamdhip64.so", "libhsa-runtime64.so", "libze_loader.so"})
    if (file.starts_with(name)) return 1;
  return 0;
}

bool driver_is_loaded() { return dl_iterate_phdr(look_for_driver, nullptr) != 0; }

}  // namespace

bool buffers_may_be_on_gpu() { return settings().gpu && driver_is_loaded() && mpi_takes_them(); }

}  // namespace stretto::mpi

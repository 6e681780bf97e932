// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/queries.hpp"

#include <link.h>

#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "mpi/bootstrap.hpp"
#include "mpi/native.hpp"
#include "settings/settings.hpp"

namespace stretto::mpi {
namespace {

bool is_on(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && std::string_view(value) != "0" && *value;
}

bool mpi_takes_gpu_buffers() {
  for (const char* name :
       {"MPIX_Query_cuda_support", "MPIX_Query_rocm_support", "MPIX_Query_hip_support", "MPIX_Query_ze_support"})
    if (const auto ask = extension<int()>(name); ask && ask() != 0) return true;
  if (const auto ask = extension<int(int, int*)>("MPIX_GPU_query_support")) {
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

}  // namespace

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

MPI_Comm with_same_ranks(MPI_Comm comm) {
  MPI_Comm made = constants().comm_null;
  MPI_Group group{};
  if (native().Comm_group(comm, &group) != MPI_SUCCESS) return made;
  if (native().Comm_create(comm, group, &made) != MPI_SUCCESS) made = constants().comm_null;
  native().Group_free(&group);
  return made;
}

std::vector<int> translate(MPI_Comm from, MPI_Comm to) {
  MPI_Group groups[2];
  native().Comm_group(from, &groups[0]);
  native().Comm_group(to, &groups[1]);
  int n = 0;
  native().Comm_size(from, &n);
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> translated(ranks.size());
  native().Group_translate_ranks(groups[0], n, ranks.data(), groups[1], translated.data());
  for (MPI_Group& group : groups) native().Group_free(&group);
  return translated;
}

bool buffers_may_be_on_gpu() {
  return settings().gpu && dl_iterate_phdr(look_for_driver, nullptr) != 0 && mpi_takes_gpu_buffers();
}

std::string info_value(MPI_Info info, const char* key) {
  int length = 0, there = 0;
  if (info == MPI_INFO_NULL || native().Info_get_valuelen(info, key, &length, &there) != MPI_SUCCESS || !there)
    return {};
  std::string value(static_cast<std::size_t>(length) + 1, '\0');
  native().Info_get(info, key, length, value.data(), &there);
  return value.c_str();
}

}  // namespace stretto::mpi

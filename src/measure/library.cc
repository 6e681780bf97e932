// SPDX-License-Identifier: BSD-3-Clause
#include "measure/library.hpp"

#include <dlfcn.h>

#include "mpi/queries.hpp"
#include "stretto/sources.hpp"

namespace stretto::measure {
namespace {

void* native_function(const char* name) { return mpi::address_of_global(std::string("P").append(name).c_str()); }
bool native_with_persistent() { return native_function("MPI_Barrier_init") != nullptr; }

/// Not those of MPICH 4.0, nor of Intel MPI 2021.18 on one node, which comes from it: a gather or scatter sends what
/// its buffer held when it was made, and a rank of an allgather may crash.
bool has_sound_requests() {
  const std::string title = mpi_title(mpi::library_version());
  return !title.starts_with("Intel MPI") && !title.starts_with("MPICH 4.0");
}

}  // namespace

StrettoLibrary::StrettoLibrary(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw Error("cannot load Stretto's library: " + std::string(dlerror()));
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (!function) throw Error(path + " has no " + name);
  };
#define STRETTO_FIND(name) find(functions.name, "MPI_" #name);
  STRETTO_NATIVE_COLLECTIVES(STRETTO_FIND)
#undef STRETTO_FIND
  others = stretto_with_requests([&](const char* name) { return dlsym(handle, name); });
  if (!native_with_persistent()) others.persistent = {};  // it has entries, for MPIs that are newer
  find(init, "MPI_Init_thread");
  find(finalize, "MPI_Finalize");
  find(free, "MPI_Comm_free");
  find(last_algorithm, "stretto_last_algorithm");
  find(prefer, "stretto_prefer");
}

Library native_library() {
  Library library;
#define STRETTO_TAKE(name) library.functions.name = mpi::native().name;
  STRETTO_NATIVE_COLLECTIVES(STRETTO_TAKE)
#undef STRETTO_TAKE
  library.others = native_with_requests(native_function);
  library.sound_requests = has_sound_requests();
  return library;
}

}  // namespace stretto::measure

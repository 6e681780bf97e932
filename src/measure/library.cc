// SPDX-License-Identifier: BSD-3-Clause
#include "measure/library.hpp"

#include <dlfcn.h>

#include "stretto/error.hpp"

namespace stretto::measure {

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
  find(finalize, "MPI_Finalize");
  find(free, "MPI_Comm_free");
  find(last_algorithm, "stretto_last_algorithm");
  find(prefer, "stretto_prefer");
}

Library native_library() {
  Library library;
#define STRETTO_TAKE(name) library.functions.name = intercept::native().name;
  STRETTO_NATIVE_COLLECTIVES(STRETTO_TAKE)
#undef STRETTO_TAKE
  return library;
}

}  // namespace stretto::measure

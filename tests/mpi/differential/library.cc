// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "stretto/error.hpp"

namespace stretto::differential {

Library::Library(const LibraryOptions& options) {
  void* handle = dlopen(options.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw Error("cannot load Stretto's library: " + std::string(dlerror()));
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (!function) throw Error(options.path + " has no " + name);
  };
#define STRETTO_FIND(name) find(functions.name, "MPI_" #name);
  STRETTO_NATIVE_COLLECTIVES(STRETTO_FIND)
#undef STRETTO_FIND
#ifdef STRETTO_MPICH
#define STRETTO_FIND(name) find(large_functions.name, "MPI_" #name "_c");
  STRETTO_COUNTED_COLLECTIVES(STRETTO_FIND)
#undef STRETTO_FIND
  large_functions.Barrier = functions.Barrier;
#else
  large_functions = functions;
#endif
  find(finalize, "MPI_Finalize");
  find(last_algorithm, "stretto_last_algorithm");

  std::vector<std::string> names;
  for (const std::string& setting : options.settings) {
    const std::size_t end = setting.find('=');
    if (end == std::string::npos) throw Error("'" + setting + "' sets nothing: NAME=VALUE");
    names.push_back(setting.substr(0, end));
    setenv(names.back().c_str(), setting.c_str() + end + 1, 1);
    settings += (settings.empty() ? "" : " ") + setting;
  }
  functions.Barrier(intercept::constants().world);
  for (const std::string& name : names) unsetenv(name.c_str());
}

Functions native_functions() {
  Functions f;
#define STRETTO_TAKE(name) f.name = intercept::native().name;
  STRETTO_NATIVE_COLLECTIVES(STRETTO_TAKE)
#undef STRETTO_TAKE
  return f;
}

}  // namespace stretto::differential

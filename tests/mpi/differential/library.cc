// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "stretto/error.hpp"

namespace stretto::differential {
namespace {

/// Looks functions up in a library.
struct Finder {
  void* handle;
  const std::string& path;

  /// Null if there is none.
  template <typename Member>
  void try_to_find(Member& function, const std::string& name) const {
    function = reinterpret_cast<Member>(dlsym(handle, name.c_str()));
  }
  template <typename Member>
  void find(Member& function, const std::string& name) const {
    try_to_find(function, name);
    if (!function) throw Error(path + " has no " + name);
  }
  /// `in_words` is the name in lower case, as it stands behind the I of the nonblocking kind.
  template <typename Kinds>
  void find_kinds(Kinds& function, const std::string& name, const std::string& in_words, const char* suffix) const {
    find(function.blocking, "MPI_" + name + suffix);
    try_to_find(function.nonblocking, "MPI_I" + in_words + suffix);
    try_to_find(function.persistent, "MPI_" + name + "_init" + suffix);
  }
};

}  // namespace

Library::Library(const LibraryOptions& options) {
  void* handle = dlopen(options.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw Error("cannot load Stretto's library: " + std::string(dlerror()));
  const Finder finder{handle, options.path};
#define STRETTO_FIND(with, function, name, ...) finder.find_kinds(functions.name, #name, #function, "");
  STRETTO_FUNCTIONS(STRETTO_FIND, )
#undef STRETTO_FIND
#ifdef STRETTO_LARGE_COUNTS
#define STRETTO_FIND(with, function, name, collective, sizes) \
  STRETTO_WITH_COUNTS_##sizes(finder.find_kinds(large_functions.name, #name, #function, "_c");)
  STRETTO_FUNCTIONS(STRETTO_FIND, )
#undef STRETTO_FIND
  large_functions.Barrier = functions.Barrier;
#else
  large_functions = functions;
#endif
#define STRETTO_FIND(name) finder.try_to_find(requests.name, "MPI_" #name);
  STRETTO_REQUEST_FUNCTIONS(STRETTO_FIND)
#undef STRETTO_FIND
  finder.find(finalize, "MPI_Finalize");
  finder.find(alloc_mem, "MPI_Alloc_mem");
  finder.find(free_mem, "MPI_Free_mem");
  finder.find(last_algorithm, "stretto_last_algorithm");

  std::vector<std::string> names;
  for (const std::string& setting : options.settings) {
    const std::size_t end = setting.find('=');
    if (end == std::string::npos) throw Error("'" + setting + "' sets nothing: NAME=VALUE");
    names.push_back(setting.substr(0, end));
    setenv(names.back().c_str(), setting.c_str() + end + 1, 1);
    settings += (settings.empty() ? "" : " ") + setting;
  }
  functions.Barrier({}, mpi::constants().world);
  for (const std::string& name : names) unsetenv(name.c_str());
}

bool Library::has(Function function, Kind kind) const {
  if (kind != Kind::blocking && !requests.Wait) return false;
  if (kind == Kind::persistent && !(requests.Start && requests.Request_free)) return false;
  return differential::has(functions, function, kind);
}

Functions native_functions() {
  Functions f;
#define STRETTO_TAKE(name) f.name.blocking = mpi::native().name;
  STRETTO_NATIVE_COLLECTIVES(STRETTO_TAKE)
#undef STRETTO_TAKE
  return f;
}

}  // namespace stretto::differential

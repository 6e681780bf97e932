// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/native.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cctype>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/flavour/flavour.hpp"
#include "mpi/tools.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace detail {

// Without constructors: a program's own shared libraries may call MPI before this one's would run.
constinit std::atomic<bool> found{false};
constinit Native native{};
constinit Constants constants{};

}  // namespace detail

namespace {

std::mutex finding;
void* library = nullptr;

/// The paths of all whose names begin like an MPI's.
int look_for_others(dl_phdr_info* info, std::size_t, void* result) {
  const std::string_view path = info->dlpi_name;
  if (path.substr(path.rfind('/') + 1).starts_with("libmpi"))
    static_cast<std::vector<std::string>*>(result)->emplace_back(path);
  return 0;
}

/// Some vendors name theirs otherwise, libmpi_cray.so.12 say: the first that has MPI's functions itself.
std::string with_another_name() {
  std::vector<std::string> paths;
  dl_iterate_phdr(look_for_others, &paths);
  for (const std::string& path : paths) {
    void* const opened = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    void* const function = opened ? dlsym(opened, "PMPI_Init") : nullptr;
    Dl_info where{};
    if (function && dladdr(function, &where) != 0 && path == where.dli_fname) return path;
  }
  return {};
}

/// The path of the first loaded library that looks like an MPI.
int look(dl_phdr_info* info, std::size_t, void* result) {
  const std::string_view path = info->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const std::string_view name : {"libmpi.so", "libmpich.so", "libmpi_abi.so", "libmpi_mt.so"}) {
    if (!file.starts_with(name)) continue;
    const std::string_view version = file.substr(name.size());
    if (!version.empty() && (version.size() < 2 || version[0] != '.' || !std::isdigit(version[1]))) continue;
    *static_cast<std::string*>(result) = path;
    return 1;
  }
  return 0;
}

[[noreturn]] void give_up(const std::string& what, const std::string& hint) {
  say(what, hint);
  _exit(1);
}

void* open_loaded_mpi(std::string& path) {
  if (dl_iterate_phdr(look, &path) == 0) path = with_another_name();
  return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

template <typename Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(library ? dlsym(library, name) : dlsym(RTLD_NEXT, name));
}

template <typename Function>
void require(Function& function, const char* name) {
  look_up(function, name);
  if (!function)
    give_up("there is no " + std::string(name) + " in " +
                (*detail::native.library ? detail::native.library : "this program"),
            "start the program without Stretto; `stretto doctor` lists the MPIs that it works with");
}

void fill(const std::string& path) {
  detail::native.library = strdup(path.c_str());
  const std::string other = flavour::other_abi(library, path);
  if (!other.empty())
    give_up("this is the " STRETTO_FLAVOUR " build of Stretto, but the program runs on " + path + ", " + other,
            "start the program with `stretto run`, which takes the right build, or take it out of LD_PRELOAD");
#define STRETTO_REQUIRE(name) require(detail::native.name, "PMPI_" #name);
  STRETTO_NATIVE_FUNCTIONS(STRETTO_REQUIRE)
#undef STRETTO_REQUIRE
#define STRETTO_LOOK_UP(name) look_up(detail::native.name, "PMPI_" #name);
  STRETTO_NATIVE_TEST_FUNCTIONS(STRETTO_LOOK_UP)
  STRETTO_NATIVE_LARGE_FUNCTIONS(STRETTO_LOOK_UP)
  STRETTO_OPTIONAL_ENTRIES(STRETTO_LOOK_UP)
#undef STRETTO_LOOK_UP
  detail::constants = {MPI_COMM_NULL, MPI_COMM_WORLD, MPI_COMM_SELF,   MPI_DATATYPE_NULL,
                       MPI_BYTE,      MPI_OP_NULL,    MPI_REQUEST_NULL};
  find_tools(library);
  detail::found.store(true, std::memory_order_release);
}

}  // namespace

// In the global scope first: an executable may hold the globals itself, as copies that libmpi uses as well.
void* address_of_global(const char* name) {
  void* address = dlsym(RTLD_DEFAULT, name);
  return address || !library ? address : dlsym(library, name);
}

void detail::find_native() {
  const std::lock_guard lock(finding);
  if (found.load(std::memory_order_acquire)) return;
  std::string path;
  library = open_loaded_mpi(path);
  fill(path);
}

void use_native(const char* path) {
  const std::lock_guard lock(finding);
  library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    give_up("cannot load the MPI library: " + std::string(dlerror()), "give the path of libmpi.so or libmpich.so");
  fill(path);
}

}  // namespace stretto::mpi

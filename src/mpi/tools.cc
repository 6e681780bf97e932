// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/tools.hpp"

#include <dlfcn.h>

#include "mpi/queries.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

char not_looked_up;  // stands in the table until the MPI is found
std::atomic<bool> said{false};

[[gnu::tls_model("initial-exec")]] thread_local ByTool* last_tool = nullptr;

/// Where the library begins that this address is in.
void* library_of(const void* address) {
  Dl_info info{};
  return address && dladdr(address, &info) ? info.dli_fbase : nullptr;
}

/// What the MPI's handle gives for MPI_X is no tool's, nor is what lies beside a PMPI_X: that is an MPI, perhaps one
/// more of them. Names would not tell: a well-known tool is called libmpiP.so.
void* tool_behind(void* library, const char* pmpi, const void* native_function) {
  const char* name = pmpi + 1;
  void* next = dlsym(RTLD_NEXT, name);
  if (!next || !native_function) return nullptr;
  if (library && next == dlsym(library, name)) return nullptr;  // without a search of all symbols, which takes long
  const void* home = library_of(next);
  const bool of_mpi = home == library_of(native_function) || home == library_of(dlsym(RTLD_NEXT, pmpi));
  return of_mpi ? nullptr : next;
}

/// In the world; -1 while it cannot be asked for.
int my_rank() {
  static std::atomic<int> known{-1};
  if (known >= 0) return known;
  int rank = -1;
  if (world_is_up()) native().Comm_rank(constants().world, &rank);
  return known = rank;
}

/// Once, by one rank.
void say_not_served(const char* name, const void* tool) {
  Dl_info info{};
  if (my_rank() != 0 || said.exchange(true) || !dladdr(tool, &info)) return;
  say("MPI_" + std::string(name) + " of " + info.dli_fname + " calls the MPI past Stretto, which serves no such calls",
      "preload that library before Stretto, or have it call PMPI_" + std::string(name));
}

}  // namespace

constinit std::atomic<void*> detail::tools[] = {
#define STRETTO_UNKNOWN(name) &not_looked_up,
    STRETTO_ENTRIES(STRETTO_UNKNOWN)
#undef STRETTO_UNKNOWN
};

void find_tools(void* library){
#define STRETTO_FIND(name)                               \
  detail::tools[static_cast<std::size_t>(Entry::name)] = \
      tool_behind(library, "PMPI_" #name, reinterpret_cast<const void*>(detail::native.name));
    STRETTO_ENTRIES(STRETTO_FIND)
#undef STRETTO_FIND
}

ByTool* ByTool::innermost(Entry entry) {
  ByTool* call = last_tool;
  while (call && call->entry_ != entry) call = call->outer_;
  return call;
}

void came_back(Entry entry) {
  if (ByTool* call = ByTool::innermost(entry)) call->came_back_ = true;
}

ByTool::ByTool(Entry entry) : entry_(entry) {
  native();  // fills the table
  tool_ = detail::tools[static_cast<std::size_t>(entry)].load(std::memory_order_relaxed);
  if (!tool_) return;
  ByTool* const open = innermost(entry);
  if (open && !open->came_back_) {
    open->came_back_ = true;
    tool_ = nullptr;
    return;
  }
  my_rank();  // after MPI_Finalize nobody could tell
  outer_ = last_tool;
  last_tool = this;
}

ByTool::~ByTool() {
  if (!tool_) return;
  last_tool = outer_;
  static constexpr const char* names[] = {
#define STRETTO_NAME(name) #name,
      STRETTO_ENTRIES(STRETTO_NAME)
#undef STRETTO_NAME
  };
  // These tell nothing of the collectives.
  const bool others = entry_ == Entry::Init || entry_ == Entry::Init_thread || entry_ == Entry::Query_thread;
  if (!came_back_ && !others) say_not_served(names[static_cast<std::size_t>(entry_)], tool_);
}

}  // namespace stretto::mpi

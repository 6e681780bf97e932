// SPDX-License-Identifier: BSD-3-Clause
//
// Profiling tools: libraries that define MPI_X and call PMPI_X. One that comes before Stretto is called by the program
// and calls Stretto's PMPI_X. One that comes behind, preloaded later or linked to the program, would see nothing:
// Stretto's MPI_X calls it, and its PMPI_X is again Stretto's.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/native.hpp"

namespace stretto::mpi {

/// What entry_points.cc defines.
enum class Entry : std::uint8_t {
#define STRETTO_NAME(name) name,
  STRETTO_ENTRIES(STRETTO_NAME)
#undef STRETTO_NAME
};

namespace detail {
extern std::atomic<void*> tools[];  ///< by Entry: the tool's function; null if there is none
}

/// Until the MPI is found the answer is yes, so that a call that need not ask looks here only.
inline bool may_be_wrapped(Entry entry) {
  return detail::tools[static_cast<std::size_t>(entry)].load(std::memory_order_relaxed) != nullptr;
}

/// Which functions the tools behind Stretto wrap. `library` is the MPI's handle; null if it is not a library.
void find_tools(void* library);

/// This thread's PMPI_X was called: by the tool, if that was asked.
void came_back(Entry entry);

/// A call of MPI_X that may go by way of a tool, while it lasts. A tool that calls MPI_X instead of PMPI_X gets what
/// PMPI_X does. One that calls neither has gone to the MPI itself, which a line says once.
class ByTool {
 public:
  explicit ByTool(Entry entry);
  ~ByTool();
  ByTool& operator=(ByTool&&) = delete;

  /// The MPI_X that is to be called; null: no tool's.
  void* tool() const { return tool_; }

 private:
  friend void came_back(Entry entry);
  static ByTool* innermost(Entry entry);

  Entry entry_;
  bool came_back_ = false;
  void* tool_;
  ByTool* outer_ = nullptr;
};

}  // namespace stretto::mpi

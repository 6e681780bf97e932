// SPDX-License-Identifier: BSD-3-Clause
//
// Stretto's library. Copies of it under several names can be loaded at once, each with its own settings.
#pragma once

#include <string>
#include <vector>

#include "calls.hpp"
#include "completion.hpp"

namespace stretto::differential {

struct LibraryOptions {
  std::string path;
  std::vector<std::string> settings;  ///< "STRETTO_BCAST=binomial"
};

struct Library {
  Functions functions;
  LargeFunctions large_functions;
  RequestFunctions requests;
  decltype(&PMPI_Finalize) finalize = nullptr;
  decltype(&PMPI_Alloc_mem) alloc_mem = nullptr;
  decltype(&PMPI_Free_mem) free_mem = nullptr;
  const char* (*last_algorithm)() = nullptr;
  std::string settings;

  /// After MPI_Init, collective: the library reads its settings at a first call.
  explicit Library(const LibraryOptions& options);
  /// Can it make calls of this kind, and complete them?
  bool has(Function function, Kind kind) const;
};

Functions native_functions();

}  // namespace stretto::differential

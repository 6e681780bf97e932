// SPDX-License-Identifier: BSD-3-Clause
//
// The two libraries that the race calls, function by function.
#pragma once

#include <string>

#include "race/cells.hpp"

namespace stretto::race {

/// The library that programs preload, loaded beside the MPI instead. Throws stretto::Error.
struct StrettoLibrary {
  explicit StrettoLibrary(const std::string& path);

  Functions functions;
  decltype(&PMPI_Finalize) finalize;
  decltype(&PMPI_Comm_dup_with_info) dup_with_info;
  decltype(&PMPI_Comm_free) free;
  const char* (*last_algorithm)();
};

Functions native_functions();

}  // namespace stretto::race

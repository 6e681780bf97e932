// SPDX-License-Identifier: BSD-3-Clause
//
// The two libraries that the race calls, function by function.
#pragma once

#include <string>

#include "race/operations.hpp"

namespace stretto::race {

struct Library {
  Functions functions;
  const char* (*last_algorithm)() = nullptr;  ///< of Stretto
};

/// The library that programs preload, loaded beside the MPI instead. Throws stretto::Error.
struct StrettoLibrary : Library {
  explicit StrettoLibrary(const std::string& path);

  decltype(&PMPI_Finalize) finalize;
  decltype(&PMPI_Comm_dup_with_info) dup_with_info;
  decltype(&PMPI_Comm_free) free;
};

Library native_library();

}  // namespace stretto::race

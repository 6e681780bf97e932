// SPDX-License-Identifier: BSD-3-Clause
//
// The two libraries that are compared, function by function.
#pragma once

#include <string>

#include "measure/calls.hpp"

namespace stretto::measure {

struct Library {
  Functions functions;
  const char* (*last_algorithm)() = nullptr;  ///< of Stretto
};

/// The library that programs preload, loaded beside the MPI instead. Throws stretto::Error.
struct StrettoLibrary : Library {
  explicit StrettoLibrary(const std::string& path);

  decltype(&PMPI_Finalize) finalize;
  bool (*prefer)(MPI_Comm comm, const char* function, const char* words);
  decltype(&PMPI_Comm_free) free;
};

Library native_library();

}  // namespace stretto::measure

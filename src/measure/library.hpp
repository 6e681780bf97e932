// SPDX-License-Identifier: BSD-3-Clause
//
// The two libraries that are compared, function by function and in every form of a call.
#pragma once

#include <string>

#include "measure/calls.hpp"
#include "measure/forms.hpp"
#include "mpi/native.hpp"

namespace stretto::measure {

struct Library {
  Functions functions;  ///< blocking
  FunctionsWithRequests others;
  bool sound_requests = true;                 ///< else its persistent collectives give wrong results or crash
  const char* (*last_algorithm)() = nullptr;  ///< of Stretto

  bool has(Form form) const { return form != Form::persistent || others.persistent.Barrier; }
  /// Whether it is timed in this form; else its blocking functions say what results must be.
  bool times(Form form) const { return form != Form::persistent || sound_requests; }
  const Functions& in(Form form) const {
    if (form == Form::nonblocking) return others.nonblocking;
    return form == Form::persistent && sound_requests ? others.persistent : functions;
  }
};

/// The library that programs preload, loaded beside the MPI instead. Throws stretto::Error.
struct StrettoLibrary : Library {
  explicit StrettoLibrary(const std::string& path);

  decltype(&PMPI_Init_thread) init;
  decltype(&PMPI_Finalize) finalize;
  bool (*prefer)(MPI_Comm comm, const char* function, const char* words);
  decltype(&PMPI_Comm_free) free;
};

Library native_library();

}  // namespace stretto::measure

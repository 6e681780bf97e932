// SPDX-License-Identifier: BSD-3-Clause
//
// The two libraries that are compared, function by function and in every form of a call.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "measure/calls.hpp"
#include "mpi/native.hpp"

namespace stretto::measure {

/// Of one library. Without persistent collectives their functions are null.
struct FunctionsWithRequests {
  Functions nonblocking;
  Functions persistent;
};

/// Where a library has a function: "MPI_Ibcast". Null: nowhere.
using Find = std::function<void*(const char* name)>;

FunctionsWithRequests native_with_requests(const Find& find);
FunctionsWithRequests stretto_with_requests(const Find& find);

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

/// Those that persistent functions have made and keep for calls with the same arguments. Before buffers are freed, and
/// before MPI_Finalize; collective.
void free_requests();

/// Computation that touches no memory and calls no MPI: each step waits for the one before.
void compute(std::int64_t steps);
/// From now on a step takes a nanosecond of somebody else's core: the rank sleeps.
void compute_elsewhere(bool elsewhere);
/// From now on nonblocking functions compute that much before they wait.
void overlap_with(std::int64_t steps);

}  // namespace stretto::measure

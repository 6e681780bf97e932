// SPDX-License-Identifier: BSD-3-Clause
//
// The forms of a call, as functions with the parameters of the blocking ones: who calls them need not know the form.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "measure/calls.hpp"

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

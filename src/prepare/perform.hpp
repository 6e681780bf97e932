// SPDX-License-Identifier: BSD-3-Clause
//
// Runs what a prepared call asks for, in the program's thread.
#pragma once

#include "communicator/communicator.hpp"
#include "prepare/serve.hpp"

namespace stretto::intercept {

/// Prepares the call, and runs it stage by stage.
Served perform(Communicator& c, const Arguments& arguments);

/// MPI's return code, if the call's plan is in the cache.
Served run_cached(MPI_Comm comm, const Arguments& arguments);

}  // namespace stretto::intercept

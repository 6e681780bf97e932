// SPDX-License-Identifier: BSD-3-Clause
//
// Info keys on communicators: "stretto_allreduce" = "ring,segment=64K" and so on, one for each function. MPIs may
// forget keys that they do not know, so that these are taken when the program hands them over.
#pragma once

#include <string>

#include "mpi/mpi_header.hpp"
#include "stretto/function.hpp"

namespace stretto::mpi {

/// After the native function that gave `info` to `comm`: takes the keys that all ranks give alike, complains of the
/// others, and lets the communicator choose again. Collective over `comm`, as that function is.
/// `cause` is that function's name.
void take_hints(MPI_Comm comm, MPI_Info info, const char* cause);

/// As if info key stretto_FUNCTION had been `words` for all ranks, which is not compared: every rank says so, between
/// the same two calls. Throws stretto::Error for unknown words.
void prefer(MPI_Comm comm, Function function, const std::string& words);

}  // namespace stretto::mpi

// SPDX-License-Identifier: BSD-3-Clause
//
// What the MPI says of itself and of communicators.
#pragma once

#include <string>

#include "mpi/mpi_header.hpp"

namespace stretto::mpi {

/// Is the world model there, after MPI_Init and before MPI_Finalize? Without it nothing is served, and nothing noted.
bool world_is_up();

/// What MPI_Get_library_version says, all lines of it.
std::string library_version();

/// Empty: it has none.
std::string communicator_name(MPI_Comm comm);

}  // namespace stretto::mpi

// SPDX-License-Identifier: BSD-3-Clause
//
// What the MPI says of itself, of communicators and of infos; and a communicator like another one.
#pragma once

#include <string>
#include <vector>

#include "mpi/mpi_header.hpp"

namespace stretto::mpi {

/// Is the world model there, after MPI_Init and before MPI_Finalize? Without it nothing is served, and nothing noted.
bool world_is_up();

/// What MPI_Get_library_version says, all lines of it.
std::string library_version();

/// Empty: it has none.
std::string communicator_name(MPI_Comm comm);

/// A new communicator of the same ranks; MPI_COMM_NULL: the MPI has no room for it. Collective. Not a duplicate: that
/// would copy the program's attributes, which calls its functions.
MPI_Comm with_same_ranks(MPI_Comm comm);

/// By rank of `from` (of an intercommunicator: of its local group), the rank in `to`; MPI_UNDEFINED: it has none.
std::vector<int> translate(MPI_Comm from, MPI_Comm to);

/// Might the program give the MPI buffers in the memory of a GPU, which no load or store of a processor reaches? So it
/// is where this MPI takes such buffers and the process has the driver of a GPU loaded, as such an MPI has after
/// MPI_Init; unless the user says that all are in the host's memory (STRETTO_GPU=0).
bool buffers_may_be_on_gpu();

/// Empty: `info` has no such key, or is none.
std::string info_value(MPI_Info info, const char* key);

}  // namespace stretto::mpi

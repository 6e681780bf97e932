// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking calls go on while the program is elsewhere: in any wait of the MPI, which calls back, or, where the MPI
// cannot be asked to, by a thread that looks now and then.
#pragma once

#include "communicator/communicator.hpp"

namespace stretto::mpi {

/// A pending call begins.
void background_begins();
/// Before MPI_Finalize.
void end_background();

/// Does a thread do it, too? It must not call the MPI, nor the program's operators.
bool polls_in_a_thread();
/// Does any nonblocking call go on whatever the program does meanwhile?
bool progress_is_sure();
/// Does that hold for this call on `c`? The same on all ranks.
bool progress_is_sure(Communicator& c, const Signature& call);

}  // namespace stretto::mpi

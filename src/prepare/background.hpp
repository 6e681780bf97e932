// SPDX-License-Identifier: BSD-3-Clause
//
// Nonblocking calls go on while the program is elsewhere: in any wait of the MPI, which calls Stretto, and by a thread
// that looks now and then, where the MPI cannot be asked to call, where such a call must not communicate, and with
// STRETTO_PROGRESS=thread.
#pragma once

#include "communicator/communicator.hpp"
#include "execute/operation.hpp"

namespace stretto::mpi {

/// A pending call begins.
void background_begins();
/// Before MPI_Finalize.
void end_background();

/// Does a thread do it, too?
bool polls_in_a_thread();
/// Of those who move an operation on `c` on: it combines by an operator of the program, or a call to the native library
/// may follow on it.
execute::Rights needed_for(Communicator& c, bool own_operator, bool native_may_follow);
/// Does somebody move calls on who may pass them to the native library? The same on all ranks.
bool may_end_natively(const Communicator& c);
/// Do nonblocking calls on `c`, with an operator of the program or without, go on whatever it does meanwhile? The same
/// on all ranks.
bool progress_is_sure(Communicator& c, bool own_operator);

}  // namespace stretto::mpi

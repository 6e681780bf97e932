// SPDX-License-Identifier: BSD-3-Clause
//
// What the program has under way in the MPI goes on only while somebody calls it: a peer may wait for that before it
// comes to a collective.
#pragma once

namespace stretto::mpi {

/// Lets it go on. From any thread.
void drive_progress();

/// Before MPI_Finalize: that was the last time.
void end_progress();

}  // namespace stretto::mpi

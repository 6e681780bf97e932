// SPDX-License-Identifier: BSD-3-Clause
//
// Which threads may call the MPI: those of the program, as it asked for in MPI_Init_thread, and Stretto's own, for
// which the MPI must have MPI_THREAD_MULTIPLE, whatever the program asked for.
#pragma once

namespace stretto::mpi {

/// MPI_Init and MPI_Init_thread. With STRETTO_PROGRESS=thread they ask the MPI for MPI_THREAD_MULTIPLE, and `provided`
/// is what the program asked for.
int init(int* argc, char*** argv);
int init_thread(int* argc, char*** argv, int required, int* provided);
/// MPI_Query_thread: the level that the program was given.
int query_thread(int* level);

/// May threads of the program make calls at the same time?
bool threads_at_once();
/// May a thread of Stretto's own call the MPI?
bool own_thread_may_call();

}  // namespace stretto::mpi

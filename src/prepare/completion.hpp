// SPDX-License-Identifier: BSD-3-Clause
//
// MPI's waits and tests of requests, of which some are Stretto's and others may be the native library's: with MPI's
// own parameters. Not for arrays in which none is Stretto's.
#pragma once

#include <span>

#include "prepare/requests.hpp"

namespace stretto::mpi {

int wait(Request& request, MPI_Request* handle, MPI_Status* status);
/// wait() for a request that is complete `at_once`.
int wait_at_once(Request& request, MPI_Request* handle, MPI_Status* status);
int test(Request& request, MPI_Request* handle, int* flag, MPI_Status* status);
int get_status(Request& request, int* flag, MPI_Status* status);

using Requests = std::span<MPI_Request>;
int wait_any(Requests requests, int* index, MPI_Status* status);
int test_any(Requests requests, int* index, int* flag, MPI_Status* status);
int wait_all(Requests requests, MPI_Status* statuses);
int test_all(Requests requests, int* flag, MPI_Status* statuses);
int wait_some(Requests requests, int* count, int* indices, MPI_Status* statuses);
int test_some(Requests requests, int* count, int* indices, MPI_Status* statuses);

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
// Without handing completions to the program.
int get_status_any(Requests requests, int* index, int* flag, MPI_Status* status);
int get_status_all(Requests requests, int* flag, MPI_Status* statuses);
int get_status_some(Requests requests, int* count, int* indices, MPI_Status* statuses);
#endif

}  // namespace stretto::mpi

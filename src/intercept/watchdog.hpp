// SPDX-License-Identifier: BSD-3-Clause
//
// STRETTO_DEADLINE for calls that the native library does: it cannot be asked to give up, nor what it waits for.
#pragma once

#include "mpi/mpi_header.hpp"
#include "observe/statistics.hpp"
#include "support/function_ref.hpp"

namespace stretto::mpi {

/// `pass` calls the native `function` on `comm`, for that reason. Without a deadline it is nothing but that.
int watched(Function function, Passed reason, MPI_Comm comm, FunctionRef<int()> pass);

}  // namespace stretto::mpi

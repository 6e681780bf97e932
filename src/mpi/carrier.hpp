// SPDX-License-Identifier: BSD-3-Clause
//
// Native requests that stand for calls of Stretto: persistent receives from oneself that are never started. An invented
// handle would not do: Open MPI's Fortran interface looks inside; nor would requests on MPI_PROC_NULL, which MPICH and
// Intel MPI take for complete in places.
#pragma once

#include <optional>

#include "mpi/native.hpp"

namespace stretto::mpi {

/// Nothing: the native library has no room for one more.
std::optional<MPI_Request> new_carrier();
void free_carrier(MPI_Request carrier);
/// After all of them, before MPI_Finalize.
void end_carriers();

}  // namespace stretto::mpi

// SPDX-License-Identifier: BSD-3-Clause
//
// Carries out the program's collective calls: arguments in, a served call or the reason why it is left native.
#pragma once

#include <optional>

#include "mpi/arguments.hpp"
#include "observe/statistics.hpp"

namespace stretto::mpi {

/// MPI's return code of a served call; nothing if the native library is to do it (which has been counted).
using Served = std::optional<int>;

Served serve(MPI_Comm comm, const Arguments& arguments);

/// Counts a call that goes to the native library.
Served pass(Function function, Passed reason);

/// The call of this thread that was last left to the native library.
struct PassedCall {
  Function function{};
  Passed reason{};
};
PassedCall passed_call();

/// What is left to do before the native MPI_Finalize.
void before_finalize();

}  // namespace stretto::mpi

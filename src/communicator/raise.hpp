// SPDX-License-Identifier: BSD-3-Clause
//
// Errors of calls that Stretto serves, as the native library would report them.
#pragma once

#include "communicator/communicator.hpp"

namespace stretto::mpi {

/// Hands `code` to the error handler of the communicator and returns it. If that is to end the program, says first in
/// which call, and on which rank: the native library would name a function that the program never called.
int raise(const Communicator& c, const std::string& called, int code);

}  // namespace stretto::mpi

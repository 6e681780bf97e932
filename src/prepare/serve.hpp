// SPDX-License-Identifier: BSD-3-Clause
//
// Carries out the program's collective calls: arguments in, a served call or the reason why it is left native.
#pragma once

#include <limits>
#include <optional>

#include "mpi/arguments.hpp"
#include "observe/statistics.hpp"

namespace stretto::mpi {

/// MPI's return code of a served call; nothing if the native library is to do it (which has been counted). One number:
/// an std::optional is stored in two parts and loaded as one, and a load that spans two recent stores has to wait.
class Served {
 public:
  constexpr Served() = default;
  constexpr Served(std::nullopt_t) {}
  constexpr Served(int code) : code_(code) {}
  constexpr explicit operator bool() const { return code_ != nothing; }
  constexpr int operator*() const { return code_; }
  friend constexpr bool operator==(Served served, int code) { return served.code_ == code; }

 private:
  static constexpr int nothing = std::numeric_limits<int>::min();  // no code of any MPI
  int code_ = nothing;
};

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

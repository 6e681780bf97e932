// SPDX-License-Identifier: BSD-3-Clause
//
// STRETTO_DEADLINE for calls that the native library does: it cannot be asked to give up, nor what it waits for.
#pragma once

#include <list>
#include <optional>

#include "mpi/mpi_header.hpp"
#include "observe/statistics.hpp"

namespace stretto::mpi {

namespace watchdog {
struct Watched;
}

/// A native call on `comm`, while it lasts. Without a deadline this is nothing.
class WatchedCall {
 public:
  WatchedCall(Function function, Passed reason, MPI_Comm comm);
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

 private:
  std::optional<std::list<watchdog::Watched>::iterator> entry_;
};

}  // namespace stretto::mpi

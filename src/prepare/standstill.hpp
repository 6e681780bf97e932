// SPDX-License-Identifier: BSD-3-Clause
//
// Finds ranks that wait for each other for ever, since they call collectives in different orders, say. A rank that
// waits long may as well wait for one that computes. So each tells the others of its node since when nothing has moved,
// in itself and in all that it waits for: where one of these moves, the moment goes on, on all that wait for it at
// last.
#pragma once

#include <chrono>
#include <cstdint>

namespace stretto::mpi {

class Communicator;

/// Of the waits of one worker, in a process in which one thread at a time calls MPI.
class Standstill {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// Now and then in the wait that has this number in its worker, on `c`, while `moves` counts what moves there. It
  /// must end if the other ranks go on, and not otherwise. Tells them, and returns true, once in a wait, if it has
  /// lasted for STRETTO_STANDSTILL and so have those of all whom it depends on.
  bool look(const Communicator& c, std::uint64_t wait, std::uint64_t moves, Moment now);

 private:
  std::uint64_t wait_ = 0, moves_ = 0;  // at the last look
  Moment since_;                        // nothing has moved here
  Moment looked_, told_;                // the last times
  bool found_ = false;
};

}  // namespace stretto::mpi

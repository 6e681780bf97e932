// SPDX-License-Identifier: BSD-3-Clause
//
// Finds ranks that wait for each other for ever, since they call collectives in different orders, say. A rank that
// waits long may as well wait for one that computes. So each tells the others of its node since when nothing has moved,
// in itself and in all members of the communicator that it waits on. Where one moves, its moment grows, and soon that
// of all that wait for it.
#pragma once

#include <cstdint>

#include "execute/observer.hpp"

namespace stretto::mpi {

class Communicator;

/// Of the waits of one worker.
class Standstill {
 public:
  /// `sure`: this wait and those of all whom it depends on have lasted for STRETTO_STANDSTILL. `perhaps`: this one has
  /// lasted ten times as long, and of the others not all is known; once in a process, and on one rank of a node.
  enum class Found : std::uint8_t { nothing, perhaps, sure };
  static constexpr int doubtful = 10;

  /// Now and then in the wait that has this number in its worker, on `c`, while `moves` counts what moves there.
  /// `certain`: it ends if the other ranks go on, and not otherwise; they are told of it then. What is found is
  /// returned once in a wait.
  Found look(const Communicator& c, std::uint64_t wait, std::uint64_t moves, bool certain, execute::Nanoseconds now);

 private:
  std::uint64_t wait_ = 0, moves_ = 0;          // at the last look
  execute::Nanoseconds since_ = 0;              // nothing has moved here
  execute::Nanoseconds looked_ = 0, told_ = 0;  // the last times
  bool found_ = false;
};

}  // namespace stretto::mpi

// SPDX-License-Identifier: BSD-3-Clause
//
// Many candidates for one cell, in blocks of calls that take turns, in one process: on one communicator, which is told
// before each block whose turn it is. Those that are certain to be slower are dropped on the way.
#pragma once

#include <string>
#include <vector>

#include "measure/timing.hpp"

namespace stretto::measure {

struct Entry {
  std::string words;      ///< as in an info key: "ring,segment=64K"; "native" is the native library itself
  std::string algorithm;  ///< id of what served its calls, or "native"
  Time time;
  int blocks;    ///< fewer than the best has: it was dropped
  bool correct;  ///< after every block, on every rank
};

/// A communicator for the candidates of all contests: where its memory lies favours none of them.
class Ground {
 public:
  explicit Ground(const StrettoLibrary& library);
  ~Ground();
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  MPI_Comm comm() const { return comm_; }
  const StrettoLibrary& library() const { return library_; }

 private:
  const StrettoLibrary& library_;
  MPI_Comm comm_ = intercept::constants().comm_null;
};

struct ContestLength {
  double seconds;  ///< or less, when at most one candidate is left
  double block;    ///< seconds of a block of calls, at most
};

/// Candidates behind a '+', which is no part of their words, are never dropped; the native library is no candidate for
/// the best, and timed as long as it is near it. Its results are the ones to have; if it does not take part, those of
/// Stretto's own choice. Collective over MPI_COMM_WORLD; the result is the same on all ranks,
/// but for `algorithm`.
std::vector<Entry> contest(const Cell& cell, const std::vector<std::string>& candidates, const Library& native,
                           const Ground& ground, const ContestLength& length, const Stage& stage);

}  // namespace stretto::measure

// SPDX-License-Identifier: BSD-3-Clause
//
// One cell of the race, or two: native and Stretto in one process, in blocks of calls that take turns; or
// native alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure/side.hpp"

namespace stretto::measure {

struct Result {
  Time native;
  Time stretto;
  int blocks;             ///< of each side
  bool correct;           ///< in every repetition, on every rank
  std::string algorithm;  ///< id, or "native"
  double seconds;         ///< that all this took
};

/// What begins ("Stretto", "native", "both", a candidate's words): whoever waits in vain knows whose calls do not end.
using Stage = std::function<void(const std::string&)>;

/// Collective over MPI_COMM_WORLD; the result is the same on all ranks, but for `algorithm`.
Result race(const Cell& cell, const Library& native, const Library& stretto, double seconds, const Stage& stage);

/// The native side alone, as `race` times it; one call of Stretto's says what the result must be.
Result time_native(const Cell& cell, const Library& native, const Library& stretto, double seconds, const Stage& stage);

/// Two cells that are to be compared, under both libraries: all four take turns.
struct Pair {
  Cell left;
  Cell right;
};

struct PairResult {
  std::vector<Block> native[2];  ///< of left and right
  std::vector<Block> stretto[2];
  std::string algorithms[2];
  bool correct;  ///< and, where both cells are to have the same results, these are the same
  double seconds;
};

PairResult race(const Pair& pair, const Library& native, const Library& stretto, double seconds, const Stage& stage);

}  // namespace stretto::measure

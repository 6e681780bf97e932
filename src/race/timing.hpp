// SPDX-License-Identifier: BSD-3-Clause
//
// One cell of the race: native and Stretto in one process, in blocks of calls that take turns; or native alone.
#pragma once

#include <functional>
#include <string>

#include "race/side.hpp"

namespace stretto::race {

struct Result {
  Time native;
  Time stretto;
  int blocks;             ///< of each side
  bool correct;           ///< in every repetition, on every rank
  std::string algorithm;  ///< id, or "native"
  double seconds;         ///< that all this took
};

/// Collective over MPI_COMM_WORLD; the result is the same on all ranks, but for `algorithm`. `stage` is told what
/// begins, so that whoever waits in vain knows whose calls do not end.
Result race(const Cell& cell, const Functions& native, const Functions& stretto, const char* (*last_algorithm)(),
            double seconds, const std::function<void(const char*)>& stage);

/// The native side alone, as `race` times it; one call of Stretto's says what the result must be.
Result time_native(const Cell& cell, const Functions& native, const Functions& stretto, double seconds,
                   const std::function<void(const char*)>& stage);

}  // namespace stretto::race

// SPDX-License-Identifier: BSD-3-Clause
//
// One cell of the race: a function at one size, native and with Stretto in turn, in one process.
#pragma once

#include <string>

#include "intercept/native.hpp"
#include "stretto/function.hpp"

namespace stretto::race {

/// The same functions, once the native library's and once Stretto's.
struct Functions {
#define STRETTO_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  STRETTO_NATIVE_COLLECTIVES(STRETTO_MEMBER)
#undef STRETTO_MEMBER
};

struct Cell {
  Function function;
  Bytes bytes;  ///< of the vector; of each rank's part, on average, where a call moves parts
};

struct Result {
  double native_us;  ///< medians over the repetitions of the slowest rank's time of one call
  double stretto_us;
  int repetitions;
  bool correct;           ///< in every repetition, on every rank
  std::string algorithm;  ///< id, or "native"
};

/// The sizes that can be measured: whole elements, for reductions into parts one for each rank.
Bytes measured_bytes(Function function, Bytes wish, int ranks);

/// Collective over MPI_COMM_WORLD; the result is the same on all ranks, but for `algorithm`.
Result race(const Cell& cell, const Functions& native, const Functions& stretto, const char* (*last_algorithm)(),
            double seconds);

}  // namespace stretto::race

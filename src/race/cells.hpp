// SPDX-License-Identifier: BSD-3-Clause
//
// One cell of the race: a collective at one size, native and with Stretto in turn, in one process.
#pragma once

#include <string>

#include "intercept/native.hpp"
#include "stretto/collective.hpp"

namespace stretto::race {

/// The same collectives, once the native library's and once Stretto's.
struct Functions {
  decltype(&PMPI_Barrier) barrier;
  decltype(&PMPI_Bcast) bcast;
  decltype(&PMPI_Reduce) reduce;
  decltype(&PMPI_Allreduce) allreduce;
  decltype(&PMPI_Allgather) allgather;
  decltype(&PMPI_Reduce_scatter_block) reduce_scatter_block;
};

struct Cell {
  Collective collective;
  Bytes bytes;  ///< of the vector; of each rank's part for allgather
};

struct Result {
  Bytes bytes;       ///< as measured: a multiple of what the collective needs
  double native_us;  ///< medians over the repetitions of the slowest rank's time of one call
  double stretto_us;
  int repetitions;
  bool correct;           ///< in every repetition, on every rank
  std::string algorithm;  ///< id, or "native"
};

/// Collective over MPI_COMM_WORLD; the result is the same on all ranks, but for `algorithm`.
Result race(const Cell& cell, const Functions& native, const Functions& stretto, const char* (*last_algorithm)(),
            double seconds);

}  // namespace stretto::race

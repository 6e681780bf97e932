// SPDX-License-Identifier: BSD-3-Clause
//
// One side of a race: whose calls, on which communicator; and blocks of them, timed by all ranks together.
#pragma once

#include <vector>

#include "race/cells.hpp"

namespace stretto::race {

constexpr int most_blocks = 1000;
constexpr double longest_block = 5e-3;  // seconds: more than a time slice of the scheduler
constexpr double cheap_call = 20e-3;    // a call that may be repeated only to warm up
constexpr double dear_call = 10;        // times the cell's seconds: not repeated at all

struct Side {
  const Functions& functions;
  bool stretto;
  MPI_Comm comm = intercept::constants().world;
  int calls = 1;   // in a block
  double one = 0;  // seconds of a call, roughly
  std::vector<double> times = {};
};

struct Time {
  double us;      ///< median over the blocks of the slowest rank's mean
  double spread;  ///< distance of the quartiles over the median
  int calls;      ///< in a block
};

void call(Runner& runner, const Side& side);

/// Seconds of one call on this rank, out of a block of them.
double block(Runner& runner, const Side& side, int calls);

/// The largest of all ranks' numbers.
double slowest(double seconds);

/// Is it so on all ranks?
bool on_all_ranks(bool here);

/// Finds how many calls fill a block. `patience` is for the tries with one number of calls.
void calibrate(Runner& runner, Side& side, double block_seconds, double patience);

/// Of sorted times.
double quantile(const std::vector<double>& sorted, double share);

/// Of times that all ranks agree on.
Time summary(std::vector<double> times, int calls);

}  // namespace stretto::race

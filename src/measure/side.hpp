// SPDX-License-Identifier: BSD-3-Clause
//
// One side of a race: whose calls, on which communicator; and blocks of them, timed by all ranks together.
#pragma once

#include <vector>

#include "measure/cells.hpp"
#include "measure/library.hpp"

namespace stretto::measure {

constexpr int most_blocks = 1000;
constexpr double longest_block = 5e-3;  // seconds: more than a time slice of the scheduler
constexpr double short_block = 1e-3;    // where every rank has a core
constexpr double cheap_call = 20e-3;    // a call that may be repeated only to warm up
constexpr double dear_call = 10;        // times the cell's seconds: not repeated at all

/// A side's time of a call.
struct Time {
  double us;      ///< median over the blocks of the slowest rank's mean
  double spread;  ///< distance of the quartiles over the median
  int calls;      ///< in a block
};

struct Block {
  double us;       ///< of a call: the slowest rank's mean
  bool disturbed;  ///< other programs got a rank's core meanwhile
};

struct Side {
  Runner& runner;
  const Library& library;
  bool stretto;
  MPI_Comm comm = intercept::constants().world;
  int calls = 1;                    // in a block
  double one = 0;                   // seconds of a call, roughly
  std::vector<double> times = {};   // of a call, block by block, on this rank
  std::vector<int> disturbed = {};  // whether this rank's core was taken away meanwhile

  void call() const { runner.call(library.functions, stretto, comm); }
  bool cheap() const { return one < cheap_call; }
};

// All of these are collective over MPI_COMM_WORLD.

/// Finds how many calls fill a block, where `likely` may do. `patience` is for the tries with one number of calls.
void calibrate(Side& side, double block_seconds, double patience, int likely = 1);

/// More blocks, of which one may be quicker.
void try_again(Side& side, double patience);

/// A block of so many calls, and one before it that brings caches and branches into the state in which these calls
/// leave them.
void time_block(Side& side);

/// The largest of all ranks' numbers. By the library that is timed: where ranks share cores, one call of another may
/// take longer than a whole block.
double slowest(double seconds, decltype(&PMPI_Allreduce) allreduce = intercept::native().Allreduce);

/// Is it so on all ranks?
bool on_all_ranks(bool here);

/// Of the slowest rank, block by block.
std::vector<double> times_of(const Side& side);
std::vector<Block> blocks_of(const Side& side);
Time summary(const Side& side);

/// Of the slowest rank's times of blocks of so many calls.
Time summary(const std::vector<double>& times, int calls);

/// Of times in any order.
double quantile(std::vector<double> times, double share);

}  // namespace stretto::measure

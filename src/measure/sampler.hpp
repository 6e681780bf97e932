// SPDX-License-Identifier: BSD-3-Clause
//
// Batches of one library's calls, timed by all ranks together.
#pragma once

#include <numeric>
#include <vector>

#include "measure/library.hpp"
#include "measure/points.hpp"

namespace stretto::measure {

constexpr int most_batches = 1000;
constexpr double longest_batch = 5e-3;  // seconds: more than a time slice of the scheduler
constexpr double short_batch = 1e-3;    // where every rank has a core

/// A library's time of a call.
struct Time {
  double us;      ///< median over the batches of the slowest rank's mean
  double spread;  ///< distance of the quartiles over the median
  int calls;      ///< in a batch
};

struct Batch {
  double us;       ///< of a call: the slowest rank's mean
  bool disturbed;  ///< other programs got a rank's core meanwhile
};

/// Functions but `call` are collective over MPI_COMM_WORLD.
struct Sampler {
  Runner& runner;
  const Library& library;
  bool stretto;
  MPI_Comm comm = runner.comm();
  int calls = 1;                    // in a batch
  double one = 0;                   // seconds of a call, roughly
  double pace = 0;                  // with what stands between calls, at best
  std::vector<double> times = {};   // of a call, batch by batch, on this rank
  std::vector<int> disturbed = {};  // whether this rank's core was taken away meanwhile

  void call() const { runner.call(library.in(runner.form()), stretto, comm); }
  /// It may be repeated only to warm up.
  bool cheap() const { return one < 20e-3; }
  /// It is not repeated at all in a measurement of so many seconds.
  bool expensive(double seconds) const { return one > 10 * seconds; }

  /// Finds how many calls fill a batch, where `likely` may do. `patience` is for the tries with one number of calls.
  void calibrate(double batch_seconds, double patience, int likely = 1);
  /// More batches, of which one may be quicker.
  void try_again(double patience);
  /// A batch of so many calls, and one before it that brings caches and branches into the state in which these calls
  /// leave them.
  void time_batch();
  /// What calibration found, as if it were a batch.
  void take_estimate();

  /// Of the slowest rank.
  std::vector<Batch> batches() const;
  Time summary() const;
  double slowest(double seconds) const;

 private:
  double batch(int n);
  double back_to_back(int n) const;
  double quickest(int n, double patience);
};

/// The mean of what each of n calls took on its slowest rank, in seconds; before each stands a barrier of `library`.
template <typename Call>
double synchronised(const Library& library, MPI_Comm comm, int n, Call call) {
  std::vector<double> each(static_cast<std::size_t>(n));
  for (double& seconds : each) {
    library.functions.Barrier(comm);
    const double start = mpi::native().Wtime();
    call();
    seconds = mpi::native().Wtime() - start;
  }
  library.functions.Allreduce(MPI_IN_PLACE, each.data(), n, MPI_DOUBLE, MPI_MAX, mpi::constants().world);
  return std::accumulate(each.begin(), each.end(), 0.0) / n;
}

/// How often this rank's core was given to others while the rank wanted it.
long preemptions();

/// Of the slowest rank; disturbed where any was.
std::vector<Batch> batches(const std::vector<double>& times, const std::vector<int>& disturbed);

/// The largest of all ranks' numbers. By the library that is timed: where ranks share cores, one call of another may
/// take longer than a whole batch.
double slowest(double seconds, decltype(&PMPI_Allreduce) allreduce = mpi::native().Allreduce);

/// Is it so on all ranks?
bool on_all_ranks(bool here);

/// Of the slowest rank's times of batches of so many calls.
Time summary(const std::vector<double>& times, int calls);

/// Of times in any order.
double quantile(std::vector<double> times, double share);

}  // namespace stretto::measure

// SPDX-License-Identifier: BSD-3-Clause
#include "measure/side.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>

namespace stretto::measure {

using intercept::constants;
using intercept::native;

namespace {

/// Seconds of one call, out of a block of them. The barriers before and after it are the block's own library's: a rank
/// that spins in the other's, for ranks that still work, would take their cores away where these are short.
double block(const Side& side, int calls) {
  side.library.functions.Barrier(side.comm);
  const double start = native().Wtime();
  for (int i = 0; i < calls; ++i) side.call();
  const double seconds = native().Wtime() - start;
  side.library.functions.Barrier(side.comm);
  return seconds / calls;
}

/// How often this rank's core was given to others while the rank wanted it.
long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

/// The best of some blocks, as `patience` lasts: what else the machine does must not make them look full.
double quickest(const Side& side, int calls, double patience) {
  double best = slowest(block(side, calls), side.library.functions.Allreduce);
  double spent = best * calls;
  for (int i = 0; i < 4 && spent < patience; ++i) {
    const double one = slowest(block(side, calls), side.library.functions.Allreduce);
    spent += one * calls;
    best = std::min(best, one);
  }
  return best;
}

}  // namespace

/// The first call connects, chooses and touches memory. Never fewer than were tried: one call after a barrier may cost
/// nothing, where its data wait in a buffer, of which the eighth must wait for room.
void calibrate(Side& side, double block_seconds, double patience, int likely) {
  for (side.calls = std::max(likely / 3, 1);; side.calls *= 8) {
    side.one = quickest(side, side.calls, patience);
    if (4 * side.calls * side.one > block_seconds) break;
  }
  side.calls *= static_cast<int>(std::max(std::ceil(block_seconds / side.calls / side.one), 1.0));
}

void try_again(Side& side, double patience) { side.one = std::min(side.one, quickest(side, side.calls, patience)); }

void time_block(Side& side) {
  if (side.cheap()) side.call();
  const long before = preemptions();
  side.times.push_back(block(side, side.calls));
  side.disturbed.push_back(preemptions() != before ? 1 : 0);
}

double slowest(double seconds, decltype(&PMPI_Allreduce) allreduce) {
  double all = 0;
  allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, constants().world);
  return all;
}

bool on_all_ranks(bool here) {
  int mine = here ? 1 : 0;
  int all = 0;
  native().Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, constants().world);
  return all == 1;
}

std::vector<double> times_of(const Side& side) {
  std::vector<double> all(side.times.size());
  native().Allreduce(side.times.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_MAX,
                     constants().world);
  return all;
}

std::vector<Block> blocks_of(const Side& side) {
  const std::vector<double> times = times_of(side);
  std::vector<int> disturbed(times.size());
  native().Allreduce(side.disturbed.data(), disturbed.data(), static_cast<int>(disturbed.size()), MPI_INT, MPI_MAX,
                     constants().world);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < times.size(); ++i) blocks.push_back({times[i] * 1e6, disturbed[i] != 0});
  return blocks;
}

Time summary(const std::vector<double>& times, int calls) {
  const double median = quantile(times, 0.5);
  return {median * 1e6, (quantile(times, 0.75) - quantile(times, 0.25)) / median, calls};
}

Time summary(const Side& side) { return summary(times_of(side), side.calls); }

double quantile(std::vector<double> times, double share) {
  std::sort(times.begin(), times.end());
  const double place = share * static_cast<double>(times.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, times.size() - 1);
  return times[low] + (times[high] - times[low]) * (place - static_cast<double>(low));
}

}  // namespace stretto::measure

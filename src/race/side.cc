// SPDX-License-Identifier: BSD-3-Clause
#include "race/side.hpp"

#include <algorithm>
#include <cmath>

namespace stretto::race {

using intercept::constants;
using intercept::native;

void call(Runner& runner, const Side& side) { runner.call(side.functions, side.stretto, side.comm); }

/// Seconds of one call, out of a block of them. The barriers before and after it are the block's own library's: a rank
/// that spins in the other's, for ranks that still work, would take their cores away where these are short.
double block(Runner& runner, const Side& side, int calls) {
  side.functions.Barrier(side.comm);
  const double start = native().Wtime();
  for (int i = 0; i < calls; ++i) call(runner, side);
  const double seconds = native().Wtime() - start;
  side.functions.Barrier(side.comm);
  return seconds / calls;
}

double slowest(double seconds) {
  double all = 0;
  native().Allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, constants().world);
  return all;
}

namespace {

/// The best of some blocks, as `patience` lasts: what else the machine does must not make them look full.
double quickest(Runner& runner, const Side& side, int calls, double patience) {
  double best = slowest(block(runner, side, calls));
  double spent = best * calls;
  for (int i = 0; i < 4 && spent < patience; ++i) {
    const double one = slowest(block(runner, side, calls));
    spent += one * calls;
    best = std::min(best, one);
  }
  return best;
}

}  // namespace

/// The first call connects, chooses and touches memory. Never fewer than were tried:
/// one call after a barrier may cost nothing, where its data wait in a buffer, of which the eighth must wait for room.
void calibrate(Runner& runner, Side& side, double block_seconds, double patience) {
  for (side.calls = 1;; side.calls *= 8) {
    side.one = quickest(runner, side, side.calls, patience);
    if (4 * side.calls * side.one > block_seconds) break;
  }
  side.calls *= static_cast<int>(std::max(std::ceil(block_seconds / side.calls / side.one), 1.0));
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (place - static_cast<double>(low));
}

Time summary(std::vector<double> times, int calls) {
  std::sort(times.begin(), times.end());
  const double median = quantile(times, 0.5);
  return {median * 1e6, (quantile(times, 0.75) - quantile(times, 0.25)) / median, calls};
}

bool on_all_ranks(bool here) {
  int mine = here ? 1 : 0;
  int all = 0;
  native().Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, constants().world);
  return all == 1;
}

}  // namespace stretto::race

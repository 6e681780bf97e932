// SPDX-License-Identifier: BSD-3-Clause
#include "race/timing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stretto::race {
namespace {

using intercept::constants;
using intercept::native;

constexpr int most_blocks = 1000;
constexpr double longest_block = 5e-3;  // seconds: more than a time slice of the scheduler
constexpr double cheap_call = 20e-3;    // a call that may be repeated only to warm up
constexpr double dear_call = 10;        // times the cell's seconds: not repeated at all

struct Side {
  const Functions& functions;
  bool stretto;
  int calls = 1;   // in a block
  double one = 0;  // seconds of a call, roughly
  std::vector<double> times = {};
};

/// Seconds of one call, out of a block of them. The barriers before and after it are the block's own library's: a rank
/// that spins in the other's, for ranks that still work, would take their cores away where these are short.
double block(Runner& runner, const Side& side, int calls) {
  side.functions.Barrier(constants().world);
  const double start = native().Wtime();
  for (int i = 0; i < calls; ++i) runner.call(side.functions, side.stretto);
  const double seconds = native().Wtime() - start;
  side.functions.Barrier(constants().world);
  return seconds / calls;
}

double slowest(double seconds) {
  double all = 0;
  native().Allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, constants().world);
  return all;
}

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

/// Finds how many calls fill a block. The first call connects, chooses and touches memory. Never fewer than were tried:
/// one call after a barrier may cost nothing, where its data wait in a buffer, of which the eighth must wait for room.
void calibrate(Runner& runner, Side& side, double block_seconds, double patience) {
  for (side.calls = 1;; side.calls *= 8) {
    side.one = quickest(runner, side, side.calls, patience);
    if (4 * side.calls * side.one > block_seconds) break;
  }
  side.calls *= static_cast<int>(std::max(std::ceil(block_seconds / side.calls / side.one), 1.0));
}

/// A round of the race: each side's block, and the check that both have the same results. A call before each block
/// brings caches and branches into the state in which that side's calls leave them.
bool pair_of_blocks(Runner& runner, Side (&sides)[2], int repetition) {
  runner.refresh(repetition);
  for (const int turn : {0, 1}) {
    Side& side = sides[(repetition + turn) % 2];
    if (side.one < cheap_call) runner.call(side.functions, side.stretto);
    side.times.push_back(block(runner, side, side.calls));
  }
  return runner.equal();
}

Time summary(const Side& side) {
  std::vector<double> all(side.times.size());
  native().Allreduce(side.times.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_MAX,
                     constants().world);
  std::sort(all.begin(), all.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(all.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, all.size() - 1);
    return all[low] + (all[high] - all[low]) * (place - static_cast<double>(low));
  };
  return {at(0.5) * 1e6, (at(0.75) - at(0.25)) / at(0.5), side.calls};
}

bool on_all_ranks(bool here) {
  int mine = here ? 1 : 0;
  int all = 0;
  native().Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, constants().world);
  return all == 1;
}

}  // namespace

Result race(const Cell& cell, const Functions& native_functions, const Functions& stretto_functions,
            const char* (*last_algorithm)(), double seconds, const std::function<void(const char*)>& stage) {
  const double begun = native().Wtime();
  Runner runner(cell);
  Side sides[2] = {{native_functions, false}, {stretto_functions, true}};
  Result result{};
  const double block_seconds = std::min(longest_block, seconds / 8);

  stage("Stretto");
  runner.refresh(0);
  runner.call(stretto_functions, true);
  result.algorithm = last_algorithm();
  calibrate(runner, sides[1], block_seconds, seconds / 4);
  stage("native");
  calibrate(runner, sides[0], block_seconds, seconds / 4);
  stage("both");
  // What a pair costs beside its calls: new inputs and the check.
  const double start = native().Wtime();
  runner.refresh(0);
  bool correct = runner.equal();
  double pair = slowest(native().Wtime() - start);
  for (const Side& side : sides) pair += side.one * (side.calls + (side.one < cheap_call ? 1 : 0));
  if (std::max(sides[0].one, sides[1].one) > dear_call * seconds) {
    result.blocks = 1;
    for (Side& side : sides) side.times.push_back(side.one);
  } else {
    const double least = pair < seconds ? 3 : pair < 4 * seconds ? 2 : 1;
    result.blocks = static_cast<int>(std::clamp(seconds / pair, least, 1.0 * most_blocks));
    for (int i = 0; i < result.blocks; ++i) correct = pair_of_blocks(runner, sides, i) && correct;
  }
  result.native = summary(sides[0]);
  result.stretto = summary(sides[1]);
  result.correct = on_all_ranks(correct);
  result.seconds = native().Wtime() - begun;
  return result;
}

Result time_native(const Cell& cell, const Functions& native_functions, const Functions& stretto_functions,
                   double seconds, const std::function<void(const char*)>& stage) {
  const double begun = native().Wtime();
  Runner runner(cell);
  Side side{native_functions, false};
  Result result{};

  stage("Stretto");
  runner.refresh(0);
  runner.call(stretto_functions, true);
  stage("native");
  runner.call(native_functions, false);
  bool correct = runner.equal();
  calibrate(runner, side, std::min(longest_block, seconds / 8), seconds / 4);
  if (side.one > dear_call * seconds) {
    result.blocks = 1;
    side.times.push_back(side.one);
  } else {
    result.blocks = static_cast<int>(std::clamp(seconds / side.one / side.calls, 3.0, 1.0 * most_blocks));
    for (int i = 0; i < result.blocks; ++i) side.times.push_back(block(runner, side, side.calls));
  }
  correct = runner.equal() && correct;
  result.native = summary(side);
  result.correct = on_all_ranks(correct);
  result.seconds = native().Wtime() - begun;
  return result;
}

}  // namespace stretto::race

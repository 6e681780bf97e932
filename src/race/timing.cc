// SPDX-License-Identifier: BSD-3-Clause
#include "race/timing.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace stretto::race {
namespace {

using intercept::constants;
using intercept::native;

/// A round of the race: each side's block, and the check that both have the same results. A call before each block
/// brings caches and branches into the state in which that side's calls leave them.
bool pair_of_blocks(Runner& runner, Side (&sides)[2], int repetition) {
  runner.refresh(repetition);
  for (const int turn : {0, 1}) {
    Side& side = sides[(repetition + turn) % 2];
    if (side.one < cheap_call) call(runner, side);
    side.times.push_back(block(runner, side, side.calls));
  }
  return runner.equal();
}

Time summary_of(const Side& side) {
  std::vector<double> all(side.times.size());
  native().Allreduce(side.times.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_MAX,
                     constants().world);
  return summary(std::move(all), side.calls);
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
  runner.call(stretto_functions, true, constants().world);
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
  result.native = summary_of(sides[0]);
  result.stretto = summary_of(sides[1]);
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
  runner.call(stretto_functions, true, constants().world);
  stage("native");
  call(runner, side);
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
  result.native = summary_of(side);
  result.correct = on_all_ranks(correct);
  result.seconds = native().Wtime() - begun;
  return result;
}

}  // namespace stretto::race

// SPDX-License-Identifier: BSD-3-Clause
#include "race/timing.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace stretto::race {
namespace {

using intercept::constants;
using intercept::native;

struct Length {
  double longest_block;  // seconds
  double least_rounds;   // where the time allows
  int least_calm;        // blocks of each side in which nobody else got a core: the time may be had again for them
};
// More than a time slice of the scheduler.
constexpr Length of_a_cell = {.longest_block = 5e-3, .least_rounds = 3, .least_calm = 0};
// Short, so that other programs let most of them alone. Of fewer than nine no interval of a median is to be had.
constexpr Length of_a_pair = {.longest_block = 1e-3, .least_rounds = 12, .least_calm = 12};
constexpr int most_blocks = 1000;
constexpr int most_times = 4;         // that the time is had
constexpr double cheap_call = 20e-3;  // a call that may be repeated only to warm up
constexpr double dear_call = 10;      // times the cell's seconds: not repeated at all

struct Side {
  Runner& runner;
  const Library& library;
  bool stretto;
  int calls = 1;   // in a block
  double one = 0;  // seconds of a call, roughly
  std::vector<double> times = {};
  std::vector<int> disturbed = {};  // whether this rank's core was taken away meanwhile

  void call() const { runner.call(library.functions, stretto); }
};

/// Seconds of one call, out of a block of them. The barriers before and after it are the block's own library's: a rank
/// that spins in the other's, for ranks that still work, would take their cores away where these are short.
double block(const Side& side, int calls) {
  side.library.functions.Barrier(constants().world);
  const double start = native().Wtime();
  for (int i = 0; i < calls; ++i) side.call();
  const double seconds = native().Wtime() - start;
  side.library.functions.Barrier(constants().world);
  return seconds / calls;
}

/// How often this rank's core was given to others while the rank wanted it.
long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

double slowest(double seconds) {
  double all = 0;
  native().Allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, constants().world);
  return all;
}

/// The best of some blocks, as `patience` lasts: what else the machine does must not make them look full.
double quickest(const Side& side, int calls, double patience) {
  double best = slowest(block(side, calls));
  double spent = best * calls;
  for (int i = 0; i < 4 && spent < patience; ++i) {
    const double one = slowest(block(side, calls));
    spent += one * calls;
    best = std::min(best, one);
  }
  return best;
}

/// Finds how many calls fill a block. The first call connects, chooses and touches memory. Never fewer than were tried:
/// one call after a barrier may cost nothing, where its data wait in a buffer, of which the eighth must wait for room.
void calibrate(Side& side, double block_seconds, double patience) {
  for (side.calls = 1;; side.calls *= 8) {
    side.one = quickest(side, side.calls, patience);
    if (4 * side.calls * side.one > block_seconds) break;
  }
  side.calls *= static_cast<int>(std::max(std::ceil(block_seconds / side.calls / side.one), 1.0));
}

bool on_all_ranks(bool here) {
  int mine = here ? 1 : 0;
  int all = 0;
  native().Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, constants().world);
  return all == 1;
}

/// Of the slowest rank, block by block.
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

/// Of the side that has the fewest blocks in which nobody else got a core.
int fewest_calm(const std::vector<Side>& sides) {
  std::ptrdiff_t fewest = std::numeric_limits<int>::max();
  for (const Side& side : sides) {
    const std::vector<Block> blocks = blocks_of(side);
    fewest = std::min(fewest, std::count_if(blocks.begin(), blocks.end(), [](const Block& b) { return !b.disturbed; }));
  }
  return static_cast<int>(fewest);
}

/// Sides that take turns, and the one or two runners whose calls they time.
class Contest {
 public:
  Contest(std::span<Runner* const> runners, std::vector<Side>& sides) : runners_(runners), sides_(sides) {}

  /// Returns whether all results were right, on this rank.
  bool run(double seconds, const Length& length, const Stage& stage);

 private:
  void refresh(int repetition) {
    for (Runner* runner : runners_) runner->refresh(repetition);
  }
  bool equal() const {
    return std::all_of(runners_.begin(), runners_.end(), [](const Runner* runner) { return runner->equal(); }) &&
           runners_.front()->agrees(*runners_.back());
  }
  bool round(int repetition);

  std::span<Runner* const> runners_;
  std::vector<Side>& sides_;
};

/// Each side's block, and the check that all have the same results. A call before each block brings caches and branches
/// into the state in which that side's calls leave them.
bool Contest::round(int repetition) {
  refresh(repetition);
  const std::size_t sides = sides_.size();
  for (std::size_t turn = 0; turn < sides; ++turn) {
    Side& side = sides_[(static_cast<std::size_t>(repetition) + turn) % sides];
    if (side.one < cheap_call) side.call();
    const long before = preemptions();
    side.times.push_back(block(side, side.calls));
    side.disturbed.push_back(preemptions() != before ? 1 : 0);
  }
  return equal();
}

bool Contest::run(double seconds, const Length& length, const Stage& stage) {
  const double share = seconds / static_cast<double>(2 * sides_.size());  // of the time, to each side's calibration
  const double block_seconds = std::min(length.longest_block, share / 2);
  for (const bool stretto : {true, false}) {
    stage(stretto ? "Stretto" : "native");
    for (Side& side : sides_)
      if (side.stretto == stretto) calibrate(side, block_seconds, share);
  }
  stage("both");
  // What a round costs beside its calls: new inputs and the check.
  const double start = native().Wtime();
  bool correct = equal();
  refresh(0);
  double round_seconds = slowest(native().Wtime() - start);
  double dearest = 0;
  for (const Side& side : sides_) {
    round_seconds += side.one * (side.calls + (side.one < cheap_call ? 1 : 0));
    dearest = std::max(dearest, side.one);
  }
  if (dearest > dear_call * seconds) {
    for (Side& side : sides_) {
      side.times.push_back(side.one);
      side.disturbed.push_back(0);
    }
    return correct;
  }
  const double least = round_seconds < seconds ? length.least_rounds : round_seconds < 4 * seconds ? 2 : 1;
  const int rounds = static_cast<int>(std::clamp(seconds / round_seconds, least, 1.0 * most_blocks));
  int done = 0;
  for (int again = 0; again < most_times; ++again) {
    for (int i = 0; i < rounds; ++i) correct = round(done++) && correct;
    const int calm = length.least_calm > 0 ? fewest_calm(sides_) : 0;
    if (calm == 0 || calm >= length.least_calm) break;  // 0: ranks that share cores never have any
    if (slowest(native().Wtime() - start) > most_times * seconds) break;
  }
  return correct;
}

Time summary(const Side& side) {
  std::vector<double> all = times_of(side);
  std::sort(all.begin(), all.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(all.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, all.size() - 1);
    return all[low] + (all[high] - all[low]) * (place - static_cast<double>(low));
  };
  return {at(0.5) * 1e6, (at(0.75) - at(0.25)) / at(0.5), side.calls};
}

}  // namespace

Result race(const Cell& cell, const Library& native_library, const Library& stretto_library, double seconds,
            const Stage& stage) {
  const double begun = native().Wtime();
  Runner runner(cell);
  std::vector<Side> sides{{runner, native_library, false}, {runner, stretto_library, true}};
  Result result{};
  stage("Stretto");
  runner.refresh(0);
  result.algorithm = runner.call_and_name(stretto_library.functions, stretto_library.last_algorithm);
  Runner* const runners[] = {&runner};
  const bool correct = Contest(runners, sides).run(seconds, of_a_cell, stage);
  result.blocks = static_cast<int>(sides[0].times.size());
  result.native = summary(sides[0]);
  result.stretto = summary(sides[1]);
  result.correct = on_all_ranks(correct);
  result.seconds = native().Wtime() - begun;
  return result;
}

PairResult race(const Pair& pair, const Library& native_library, const Library& stretto_library, double seconds,
                const Stage& stage) {
  const double begun = native().Wtime();
  Runner left(pair.left);
  Runner right(pair.right);
  Runner* const runners[] = {&left, &right};
  PairResult result{};
  stage("Stretto");
  std::vector<Side> sides;
  for (std::size_t i = 0; i < 2; ++i) {
    runners[i]->refresh(0);
    result.algorithms[i] = runners[i]->call_and_name(stretto_library.functions, stretto_library.last_algorithm);
  }
  for (const bool stretto : {false, true})
    for (Runner* runner : runners) sides.push_back({*runner, stretto ? stretto_library : native_library, stretto});
  result.correct = on_all_ranks(Contest(runners, sides).run(seconds, of_a_pair, stage));
  for (std::size_t i = 0; i < sides.size(); ++i) (i < 2 ? result.native : result.stretto)[i % 2] = blocks_of(sides[i]);
  result.seconds = native().Wtime() - begun;
  return result;
}

Result time_native(const Cell& cell, const Library& native_library, const Library& stretto_library, double seconds,
                   const Stage& stage) {
  const double begun = native().Wtime();
  Runner runner(cell);
  Side side{runner, native_library, false};
  Result result{};
  stage("Stretto");
  runner.refresh(0);
  runner.call(stretto_library.functions, true);
  stage("native");
  side.call();
  bool correct = runner.equal();
  calibrate(side, std::min(of_a_cell.longest_block, seconds / 8), seconds / 4);
  if (side.one > dear_call * seconds) {
    side.times.push_back(side.one);
  } else {
    const double blocks = seconds / side.one / side.calls;
    for (int i = static_cast<int>(std::clamp(blocks, of_a_cell.least_rounds, 1.0 * most_blocks)); i > 0; --i)
      side.times.push_back(block(side, side.calls));
  }
  correct = runner.equal() && correct;
  result.blocks = static_cast<int>(side.times.size());
  result.native = summary(side);
  result.correct = on_all_ranks(correct);
  result.seconds = native().Wtime() - begun;
  return result;
}

}  // namespace stretto::race

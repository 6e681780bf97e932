// SPDX-License-Identifier: BSD-3-Clause
#include "measure/timing.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace stretto::measure {
namespace {

using intercept::constants;
using intercept::native;

struct Length {
  double longest_block;  // seconds
  double least_rounds;   // where the time allows
  int least_calm;        // blocks of each side in which nobody else got a core: the time may be had again for them
};
constexpr Length of_a_cell = {.longest_block = longest_block, .least_rounds = 3, .least_calm = 0};
// Short, so that other programs let most of them alone. Of fewer than nine no interval of a median is to be had.
constexpr Length of_a_pair = {.longest_block = 1e-3, .least_rounds = 12, .least_calm = 12};
constexpr int most_times = 4;  // that the time is had

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
class Match {
 public:
  Match(std::span<Runner* const> runners, std::vector<Side>& sides) : runners_(runners), sides_(sides) {}

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

/// Each side's block, and the check that all have the same results.
bool Match::round(int repetition) {
  refresh(repetition);
  const std::size_t sides = sides_.size();
  for (std::size_t turn = 0; turn < sides; ++turn)
    time_block(sides_[(static_cast<std::size_t>(repetition) + turn) % sides]);
  return equal();
}

bool Match::run(double seconds, const Length& length, const Stage& stage) {
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
    round_seconds += side.one * (side.calls + (side.cheap() ? 1 : 0));
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
  const bool correct = Match(runners, sides).run(seconds, of_a_cell, stage);
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
  result.correct = on_all_ranks(Match(runners, sides).run(seconds, of_a_pair, stage));
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
      time_block(side);
  }
  correct = runner.equal() && correct;
  result.blocks = static_cast<int>(side.times.size());
  result.native = summary(side);
  result.correct = on_all_ranks(correct);
  result.seconds = native().Wtime() - begun;
  return result;
}

}  // namespace stretto::measure

// SPDX-License-Identifier: BSD-3-Clause
#include "measure/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stretto::measure {
namespace {

using mpi::native;

constexpr double batch_seconds = 0.5e-3;  // short, so that other programs let most of them alone
constexpr int samples = 9;                // from which the length of a call is known
/// What interrupts a long call is a small part of it.
constexpr double least_rounds(double round_seconds) { return round_seconds < 1 ? 15 : 5; }

enum Part { call, computation, both, timed_parts };

/// Of the slowest rank. The fastest of some trials: what interrupts one is not the computation's.
double seconds_of_a_step() {
  constexpr std::int64_t steps = 100'000;
  double least = std::numeric_limits<double>::max();
  for (int trial = 0; trial < 20; ++trial) {
    const double start = native().Wtime();
    compute(steps);
    least = std::min(least, native().Wtime() - start);
  }
  return slowest(least) / steps;
}

/// One library's calls and computations.
class Overlapped {
 public:
  Overlapped(Runner& runner, const Library& library, bool stretto) : sampler_{runner, library, stretto} {}

  /// How many calls fill a batch, and how long the computation is. Returns the seconds of a round.
  double prepare(double patience, double seconds_of_step) {
    sampler_.calibrate(batch_seconds, patience);
    for (int i = 0; i < samples; ++i) time(call);
    const double pure = quantile(times_[call], 0.5);
    times_[call].clear();
    disturbed_[call].clear();
    steps_ = std::llround(pure / seconds_of_step);
    return (timed_parts + 1) * pure * sampler_.calls;
  }
  void round() {
    for (const Part part : {call, computation, both}) time(part);
  }
  std::vector<std::vector<Batch>> batches() const {
    std::vector<std::vector<Batch>> all;
    for (const Part part : {call, computation, both}) all.push_back(measure::batches(times_[part], disturbed_[part]));
    return all;
  }

 private:
  void time(Part part) {
    const long before = preemptions();
    overlap_with(part == both ? steps_ : 0);
    times_[part].push_back(synchronised(sampler_.library, sampler_.comm, sampler_.calls, [&] {
      if (part == computation)
        compute(steps_);
      else
        sampler_.call();
    }));
    overlap_with(0);
    disturbed_[part].push_back(preemptions() != before ? 1 : 0);
  }

  Sampler sampler_;
  std::int64_t steps_ = 0;
  std::vector<double> times_[timed_parts];
  std::vector<int> disturbed_[timed_parts];
};

}  // namespace

OverlapResult overlap(const Point& point, const Setting& setting, bool elsewhere) {
  constexpr double nanosecond = 1e-9;
  Runner runner(point);
  OverlapResult result{};
  runner.refresh(0);
  setting.announce("Stretto");
  result.algorithm = runner.call_and_name(setting.stretto);
  Overlapped of_stretto(runner, setting.stretto, true), of_native(runner, setting.native, false);
  compute_elsewhere(elsewhere);
  const double step = elsewhere ? nanosecond : seconds_of_a_step();
  double round_seconds = of_stretto.prepare(setting.seconds / 8, step);
  setting.announce("native");
  round_seconds += of_native.prepare(setting.seconds / 8, step);
  setting.announce("both");
  result.correct = runner.equal();
  round_seconds = slowest(round_seconds);
  const int rounds =
      static_cast<int>(std::clamp(setting.seconds / round_seconds, least_rounds(round_seconds), 1.0 * most_batches));
  for (int i = 0; i < rounds; ++i) {
    runner.refresh(i);
    for (const bool first : {true, false}) (first == (i % 2 == 0) ? of_stretto : of_native).round();
    result.correct = runner.equal() && result.correct;
  }
  result.correct = on_all_ranks(result.correct);
  result.native = of_native.batches();
  result.stretto = of_stretto.batches();
  return result;
}

}  // namespace stretto::measure

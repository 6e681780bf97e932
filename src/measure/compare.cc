// SPDX-License-Identifier: BSD-3-Clause
#include "measure/compare.hpp"

#include <algorithm>
#include <limits>
#include <memory>

namespace stretto::measure {
namespace {

using mpi::native;

struct Length {
  double longest_batch;  // seconds
  double least_rounds;   // where the time allows
  int least_calm;        // batches of each in which nobody else got a core: the time may be had again for them
};
constexpr Length of_a_point = {.longest_batch = longest_batch, .least_rounds = 3, .least_calm = 0};
// Short, so that other programs let most of them alone. Of fewer than nine no interval of a median is to be had.
constexpr Length of_a_group = {.longest_batch = 1e-3, .least_rounds = 12, .least_calm = 12};
// Shorter still where calls do not block: with some MPIs a thread looks every half millisecond while one is under way.
constexpr Length of_a_group_with_requests = {.longest_batch = 0.25e-3, .least_rounds = 12, .least_calm = 12};
constexpr int most_times = 4;  // that the time is had

/// The calls of runners, under both libraries.
class Comparison {
 public:
  Comparison(std::vector<Runner*> runners, const Setting& setting) : runners_(std::move(runners)), setting_(setting) {
    for (const bool stretto : {false, true})
      for (Runner* runner : runners_)
        samplers.push_back({*runner, stretto ? setting.stretto : setting.native, stretto});
  }

  /// Stretto's first calls; returns by what each was served.
  std::vector<std::string> first_calls() {
    setting_.announce("Stretto");
    refresh(0);
    std::vector<std::string> algorithms;
    for (Runner* runner : runners_) algorithms.push_back(runner->call_and_name(setting_.stretto));
    return algorithms;
  }

  /// Returns whether all results were right.
  bool run(const Length& length) {
    calibrate(length);
    setting_.announce("both");
    // What a round costs beside its calls: new inputs and the check.
    const double start = native().Wtime();
    bool correct = equal();
    refresh(0);
    double round_seconds = slowest(native().Wtime() - start);
    for (const Sampler& one : samplers) round_seconds += one.slowest(one.pace) * (one.calls + (one.cheap() ? 1 : 0));
    const double seconds = setting_.seconds;
    if (std::ranges::any_of(samplers, [&](const Sampler& one) { return one.expensive(seconds); })) {
      for (Sampler& one : samplers) one.take_estimate();
      return on_all_ranks(correct);
    }
    const double least = round_seconds < seconds ? length.least_rounds : round_seconds < 4 * seconds ? 2 : 1;
    const int rounds = static_cast<int>(std::clamp(seconds / round_seconds, least, 1.0 * most_batches));
    int done = 0;
    for (int again = 0; again < most_times; ++again) {
      for (int i = 0; i < rounds; ++i) correct = round(done++) && correct;
      const int calm = length.least_calm > 0 ? fewest_calm() : 0;
      if (calm == 0 || calm >= length.least_calm) break;  // 0: ranks that share cores never have any
      if (slowest(native().Wtime() - start) > most_times * seconds) break;
    }
    return on_all_ranks(correct);
  }

  std::vector<Sampler> samplers;  // native ones first

 private:
  void refresh(int repetition) {
    for (Runner* runner : runners_) runner->refresh(repetition);
  }
  bool equal() const {
    return std::ranges::all_of(
        runners_, [this](const Runner* runner) { return runner->equal() && runners_.front()->agrees(*runner); });
  }

  void calibrate(const Length& length) {
    const double share = setting_.seconds / static_cast<double>(2 * samplers.size());  // of the time, for each
    for (const bool stretto : {true, false}) {
      setting_.announce(stretto ? "Stretto" : "native");
      for (Sampler& one : samplers)
        if (one.stretto == stretto) one.calibrate(std::min(length.longest_batch, share / 2), share);
    }
  }

  /// A batch of each, and the check that all have the same results.
  bool round(int repetition) {
    refresh(repetition);
    const std::size_t n = samplers.size();
    for (std::size_t i = 0; i < n; ++i) samplers[(static_cast<std::size_t>(repetition) + i) % n].time_batch();
    return equal();
  }

  /// Of the calls that have the fewest batches in which nobody else got a core.
  int fewest_calm() const {
    std::ptrdiff_t fewest = std::numeric_limits<int>::max();
    for (const Sampler& one : samplers)
      fewest = std::min(fewest, std::ranges::count(one.batches(), false, &Batch::disturbed));
    return static_cast<int>(fewest);
  }

  std::vector<Runner*> runners_;
  const Setting& setting_;
};

}  // namespace

Result compare(const Point& point, const Setting& setting) {
  Runner runner(point);
  Comparison comparison({&runner}, setting);
  Result result{};
  result.algorithm = comparison.first_calls()[0];
  result.correct = comparison.run(of_a_point);
  result.batches = static_cast<int>(comparison.samplers[0].times.size());
  result.native = comparison.samplers[0].summary();
  result.stretto = comparison.samplers[1].summary();
  result.native_form = setting.native.times(point.form) ? point.form : Form::blocking;
  return result;
}

GroupResult compare(const std::vector<Point>& group, const Setting& setting) {
  GroupResult result{};
  result.correct = true;
  const std::size_t n = group.size();
  result.native.resize(n);
  result.stretto.resize(n);
  result.algorithms.resize(n);
  if (!std::ranges::all_of(group, [&](const Point& point) { return setting.native.has(point.form); })) return result;
  std::vector<std::unique_ptr<Runner>> runners;
  std::vector<Runner*> all;
  for (const Point& point : group) all.push_back(runners.emplace_back(std::make_unique<Runner>(point)).get());
  Comparison comparison(all, setting);
  result.algorithms = comparison.first_calls();
  const bool blocking = std::ranges::all_of(group, [](const Point& point) { return point.form == Form::blocking; });
  result.correct = comparison.run(blocking ? of_a_group : of_a_group_with_requests);
  for (std::size_t i = 0; i < n; ++i) {
    if (setting.native.times(group[i].form)) result.native[i] = comparison.samplers[i].batches();
    result.stretto[i] = comparison.samplers[n + i].batches();
  }
  return result;
}

Result time_alone(const Point& point, const Setting& setting, bool stretto) {
  const Library& library = stretto ? setting.stretto : setting.native;
  const Library& other = stretto ? setting.native : setting.stretto;
  Runner runner(point);
  Sampler sampler{runner, library, stretto};
  setting.announce(stretto ? "native" : "Stretto");
  runner.refresh(0);
  runner.call(other.functions, !stretto);  // in any form
  setting.announce(stretto ? "Stretto" : "native");
  Result result{};
  result.native_form = setting.native.times(point.form) ? point.form : Form::blocking;
  if (stretto)
    result.algorithm = runner.call_and_name(library);
  else
    sampler.call();
  const bool correct = runner.equal();
  const double seconds = setting.seconds;
  sampler.calibrate(std::min(of_a_point.longest_batch, seconds / 8), seconds / 4);
  if (sampler.expensive(seconds)) {
    sampler.take_estimate();
  } else {
    const double batches = seconds / sampler.slowest(sampler.pace) / sampler.calls;
    for (int i = static_cast<int>(std::clamp(batches, of_a_point.least_rounds, 1.0 * most_batches)); i > 0; --i)
      sampler.time_batch();
  }
  result.correct = on_all_ranks(runner.equal() && correct);
  result.batches = static_cast<int>(sampler.times.size());
  (stretto ? result.stretto : result.native) = sampler.summary();
  return result;
}

}  // namespace stretto::measure

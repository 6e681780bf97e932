// SPDX-License-Identifier: BSD-3-Clause
#include "measure/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <random>

#include "stretto/error.hpp"

namespace stretto::measure {
namespace {

using mpi::constants;
using mpi::native;

constexpr std::string_view native_word = "native";
constexpr char reference = '+';
constexpr double shortest_batch = 0.2;  // of the usual one
constexpr int steady_calls = 16;        // of a batch, or 5 ms: the first ones find nobody else under way
constexpr double patience = 10e-3;      // for the tries with one number of calls: more than another's time slice
constexpr double hopeless = 2;          // times the fastest when the first calls were counted, twice: no batch is timed
constexpr double far_too_long = 5;      // seconds beyond those given: then even few batches are too many
constexpr std::size_t few = 3;          // batches: fewer say nothing
constexpr std::size_t sure = 6;         // as many as time allows: of fewer many a good one would be dropped
constexpr std::size_t enough = 20;      // for the last that is left
constexpr std::size_t plenty = 40;      // for several that cannot be told apart

/// Times that are beyond doubt: three quarters of the one's batches took longer than three quarters of the other's.
bool slower(const std::vector<double>& one, const std::vector<double>& other) {
  return quantile(one, 0.25) > quantile(other, 0.75);
}

class Candidate {
 public:
  Candidate(const Point& point, Runner& runner, const std::string& words, const Setting& setting, MPI_Comm shared)
      : words(words.starts_with(reference) ? words.substr(1) : words),
        is_native(this->words == native_word),
        is_reference(words.starts_with(reference)),
        sampler{runner, is_native ? setting.native : setting.stretto, !is_native},
        function_(facts(point.benchmark.function).name),
        stretto_(setting.stretto) {
    if (!is_native) sampler.comm = shared;
  }

  /// Before its calls.
  void enter() const {
    if (!is_native && !stretto_.prefer(sampler.comm, function_.c_str(), words.c_str()))
      throw Error("the plan has a candidate that is none for " + function_ + ": " + words);
  }

  /// How many calls fill a batch, which may be as many as `likely`.
  void prepare(double batch_seconds, int likely) {
    sampler.calibrate(batch_seconds, patience, likely);
    sampler.calls =
        std::max(sampler.calls, std::min(steady_calls, static_cast<int>(std::ceil(longest_batch / sampler.one))));
  }

  /// A batch, and the check of its last call.
  void run() {
    enter();
    sampler.runner.spoil();
    sampler.time_batch();
    times.push_back(sampler.slowest(sampler.times.back()));
    correct = correct && (is_native || sampler.runner.equal());
  }

  Time time() const {
    return times.empty() ? Time{sampler.one * 1e6, 0, sampler.calls} : summary(times, sampler.calls);
  }

  std::string words;
  bool is_native;
  bool is_reference;  // timed to the end, however slow
  Sampler sampler;
  std::vector<double> times;  // of the slowest rank, batch by batch
  bool in = true;
  bool correct = true;
  std::string algorithm = std::string(native_word);

 private:
  std::string function_;
  const StrettoLibrary& stretto_;
};

using Candidates = std::vector<std::unique_ptr<Candidate>>;

void drop_slower(Candidates& all) {
  const Candidate* best = nullptr;
  for (const auto& one : all)
    if (!one->is_native && one->in && (!best || quantile(one->times, 0.5) < quantile(best->times, 0.5)))
      best = one.get();
  for (const auto& one : all)
    if (!one->is_reference && one.get() != best && one->in && slower(one->times, best->times)) one->in = false;
}

bool decided(const Candidates& all) {
  const auto left =
      std::ranges::count_if(all, [](const auto& one) { return !one->is_reference && !one->is_native && one->in; });
  const std::size_t batches = left <= 1 ? enough : plenty;
  return std::ranges::all_of(all, [&](const auto& one) {
    return !one->in || one->times.size() >= batches || (left <= 1 && !one->sampler.cheap());
  });
}

/// New inputs, and the results to have. Returns the seconds of the call.
double renew(Runner& runner, const Library& oracle, std::size_t round) {
  runner.refresh(static_cast<int>(round));
  const double begun = native().Wtime();
  runner.call(oracle.functions, false);
  return slowest(native().Wtime() - begun, oracle.functions.Allreduce);
}

/// First calls, and how many fill a batch. The native one has been called, with peers that came late and connections to
/// make; it may take longer than all others together.
void warm_up(Candidates& all, double batch_seconds, double natively, const Setting& setting) {
  double best = 0;
  int likely = 1;  // calls in a batch
  for (const auto& one : all) {
    one->sampler.one = natively;
    if (one->is_native) continue;
    setting.announce(one->words);
    one->enter();
    one->sampler.call();
    one->algorithm = setting.stretto.last_algorithm();
    one->prepare(batch_seconds, likely);
    if (best == 0 || one->sampler.one < best) best = one->sampler.one;
    likely = std::max(likely, one->sampler.calls);
  }
  for (const auto& one : all) {
    if (!one->is_native && (one->is_reference || one->sampler.one <= hopeless * best)) continue;
    setting.announce(one->words);
    one->enter();
    if (!one->is_native)
      one->sampler.try_again(2 * batch_seconds);  // it may have been disturbed
    else if (natively < patience)                 // else that call will do
      one->prepare(batch_seconds, 1);
    one->in = one->sampler.one <= hopeless * best;
  }
}

/// Batches of all candidates that are left, until they are told apart or the time is over.
void take_turns(Candidates& all, Runner& runner, const Library& oracle, const Setting& setting, double begun,
                bool new_inputs) {
  std::vector<Candidate*> order;
  for (const auto& one : all) order.push_back(one.get());
  std::minstd_rand random;  // alike on all ranks
  for (std::size_t round = 0; round < most_batches; ++round) {
    if (new_inputs && std::has_single_bit(round)) renew(runner, oracle, round);  // ever more seldom
    std::ranges::shuffle(order, random);                                         // who comes after whom must not matter
    for (Candidate* one : order)
      if (one->in) one->run();
    const double spent = slowest(native().Wtime() - begun, setting.stretto.functions.Allreduce);
    const std::size_t least = spent > setting.seconds ? few : sure;
    if (round + 1 < least && spent < setting.seconds + far_too_long) continue;
    drop_slower(all);
    if (decided(all) || spent > setting.seconds) return;
  }
}

}  // namespace

std::vector<CandidateResult> paired_benchmark(const Point& point, const std::vector<std::string>& candidates,
                                              MPI_Comm shared, double batch_seconds, const Setting& setting) {
  const StrettoLibrary& library = setting.stretto;
  const double begun = native().Wtime();
  Runner runner(point);
  Candidates all;
  for (const std::string& words : candidates)
    all.push_back(std::make_unique<Candidate>(point, runner, words, setting, shared));
  const double share = setting.seconds / 8 / static_cast<double>(std::max<std::size_t>(candidates.size(), 1));
  const bool has_native = std::ranges::any_of(all, [](const auto& one) { return one->is_native; });
  const Library& oracle = has_native ? setting.native : library;
  setting.announce(std::string(native_word));
  const double natively = renew(runner, oracle, 0);
  warm_up(all, std::clamp(share, shortest_batch * batch_seconds, batch_seconds), natively, setting);
  setting.announce("all");
  take_turns(all, runner, oracle, setting, begun, natively < patience);
  std::vector<int> correct;
  for (const auto& one : all) correct.push_back(one->correct ? 1 : 0);
  library.functions.Allreduce(MPI_IN_PLACE, correct.data(), static_cast<int>(correct.size()), MPI_INT, MPI_MIN,
                              constants().world);
  std::vector<CandidateResult> entries;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Candidate& one = *all[i];
    entries.push_back({one.words, one.algorithm, one.time(), static_cast<int>(one.times.size()), correct[i] == 1});
  }
  return entries;
}

}  // namespace stretto::measure

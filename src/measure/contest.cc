// SPDX-License-Identifier: BSD-3-Clause
#include "measure/contest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <random>

#include "stretto/error.hpp"

namespace stretto::measure {
namespace {

using intercept::constants;
using intercept::native;

constexpr std::string_view native_word = "native";
constexpr char reference = '+';
constexpr double shortest_block = 0.2;  // of the usual one
constexpr int steady_calls = 16;        // of a block, or 5 ms: the first ones find nobody else under way
constexpr double patience = 10e-3;  // for the tries with one number of calls: more than a time slice of another process
constexpr double hopeless = 2;      // times the fastest when the first calls were counted, twice: no block is timed
constexpr double cold_native = 1e-3;  // seconds that its first call may take for connections and the like,
constexpr double cold = 10;           // or times the fastest: where it takes longer that call will do
constexpr double far_too_long = 5;    // seconds beyond those given: then even few blocks are too many
constexpr std::size_t few = 3;        // blocks: fewer say nothing
constexpr std::size_t sure = 6;       // as many as time allows: of fewer many a good one would be dropped
constexpr std::size_t enough = 20;    // for the last that is left
constexpr std::size_t plenty = 40;    // for several that cannot be told apart

/// Times that are beyond doubt: three quarters of the one's blocks took longer than three quarters of the other's.
bool slower(const std::vector<double>& one, const std::vector<double>& other) {
  return quantile(one, 0.25) > quantile(other, 0.75);
}

class Contestant {
 public:
  Contestant(const Cell& cell, Runner& runner, const std::string& words, const Library& native_library,
             const Ground& ground)
      : words(words.starts_with(reference) ? words.substr(1) : words),
        is_native(this->words == native_word),
        is_reference(words.starts_with(reference)),
        side{runner, is_native ? native_library : ground.library(), !is_native},
        function_(facts(cell.kind.function).name),
        ground_(ground) {
    if (!is_native) side.comm = ground.comm();
  }

  /// Before its calls.
  void enter() const {
    if (!is_native && !ground_.library().prefer(side.comm, function_.c_str(), words.c_str()))
      throw Error("the plan has a candidate that is none for " + function_ + ": " + words);
  }

  /// How many calls fill a block, which may be as many as `likely`.
  void prepare(double block_seconds, int likely) {
    calibrate(side, block_seconds, patience, likely);
    side.calls = std::max(side.calls, std::min(steady_calls, static_cast<int>(std::ceil(longest_block / side.one))));
  }

  /// A block, and the check of its last call.
  void run() {
    enter();
    side.runner.spoil();
    time_block(side);
    times.push_back(slowest(side.times.back(), side.library.functions.Allreduce));
    correct = correct && (is_native || side.runner.equal());
  }

  Time time() const { return times.empty() ? Time{side.one * 1e6, 0, side.calls} : summary(times, side.calls); }

  std::string words;
  bool is_native;
  bool is_reference;  // timed to the end, however slow
  Side side;
  std::vector<double> times;  // of the slowest rank, block by block
  bool in = true;
  bool correct = true;
  std::string algorithm = std::string(native_word);

 private:
  std::string function_;
  const Ground& ground_;
};

using Contestants = std::vector<std::unique_ptr<Contestant>>;

void drop_slower(Contestants& all) {
  const Contestant* best = nullptr;
  for (const auto& one : all)
    if (!one->is_native && one->in && (!best || quantile(one->times, 0.5) < quantile(best->times, 0.5)))
      best = one.get();
  for (const auto& one : all)
    if (!one->is_reference && one.get() != best && one->in && slower(one->times, best->times)) one->in = false;
}

bool decided(const Contestants& all) {
  const auto left =
      std::ranges::count_if(all, [](const auto& one) { return !one->is_reference && !one->is_native && one->in; });
  const std::size_t blocks = left <= 1 ? enough : plenty;
  return std::ranges::all_of(all, [&](const auto& one) {
    return !one->in || one->times.size() >= blocks || (left <= 1 && !one->side.cheap());
  });
}

/// New inputs, and the results to have. Returns the seconds of the call.
double renew(Runner& runner, const Library& oracle, std::size_t round) {
  runner.refresh(static_cast<int>(round));
  const double begun = native().Wtime();
  runner.call(oracle.functions, false);
  return slowest(native().Wtime() - begun, oracle.functions.Allreduce);
}

/// First calls, and how many fill a block. The native one has been called: it may take longer than all others together.
void warm_up(Contestants& all, double block_seconds, double natively, const StrettoLibrary& library,
             const Stage& stage) {
  double best = 0;
  int likely = 1;  // calls in a block
  for (const auto& one : all) {
    one->side.one = natively;
    if (one->is_native) continue;
    stage(one->words);
    one->enter();
    one->side.call();
    one->algorithm = library.last_algorithm();
    one->prepare(block_seconds, likely);
    if (best == 0 || one->side.one < best) best = one->side.one;
    likely = std::max(likely, one->side.calls);
  }
  for (const auto& one : all) {
    if (!one->is_native && (one->is_reference || one->side.one <= hopeless * best)) continue;
    stage(one->words);
    one->enter();
    if (!one->is_native)
      try_again(one->side, 2 * block_seconds);  // it may have been disturbed
    else if (natively < std::max(cold_native, cold * best))
      one->prepare(block_seconds, 1);
    one->in = one->side.one <= hopeless * best;
  }
}

struct Rounds {
  Contestants& all;
  Runner& runner;
  const Library& oracle;
  const StrettoLibrary& library;
  double seconds;

  void run(double begun, bool new_inputs) {
    std::vector<Contestant*> order;
    for (const auto& one : all) order.push_back(one.get());
    std::minstd_rand random;  // alike on all ranks
    for (std::size_t round = 0; round < most_blocks; ++round) {
      if (new_inputs && std::has_single_bit(round)) renew(runner, oracle, round);  // ever more seldom
      std::ranges::shuffle(order, random);  // who comes after whom must not matter
      for (Contestant* one : order)
        if (one->in) one->run();
      const double spent = slowest(native().Wtime() - begun, library.functions.Allreduce);
      const std::size_t least = spent > seconds ? few : sure;
      if (round + 1 < least && spent < seconds + far_too_long) continue;
      drop_slower(all);
      if (decided(all) || spent > seconds) return;
    }
  }
};

}  // namespace

Ground::Ground(const StrettoLibrary& library) : library_(library) { native().Comm_dup(constants().world, &comm_); }

Ground::~Ground() { library_.free(&comm_); }

std::vector<Entry> contest(const Cell& cell, const std::vector<std::string>& candidates, const Library& native_library,
                           const Ground& ground, const ContestLength& length, const Stage& stage) {
  const StrettoLibrary& library = ground.library();
  const double begun = native().Wtime();
  Runner runner(cell);
  Contestants all;
  for (const std::string& words : candidates)
    all.push_back(std::make_unique<Contestant>(cell, runner, words, native_library, ground));
  const double share = length.seconds / 8 / static_cast<double>(std::max<std::size_t>(candidates.size(), 1));
  const bool has_native = std::ranges::any_of(all, [](const auto& one) { return one->is_native; });
  const Library& oracle = has_native ? native_library : library;
  stage(std::string(native_word));
  const double natively = renew(runner, oracle, 0);
  warm_up(all, std::clamp(share, shortest_block * length.block, length.block), natively, library, stage);
  stage("all");
  Rounds{all, runner, oracle, library, length.seconds}.run(begun, natively < patience);
  std::vector<int> correct;
  for (const auto& one : all) correct.push_back(one->correct ? 1 : 0);
  std::vector<int> everywhere(correct.size());
  library.functions.Allreduce(correct.data(), everywhere.data(), static_cast<int>(correct.size()), MPI_INT, MPI_MIN,
                              constants().world);
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Contestant& one = *all[i];
    entries.push_back({one.words, one.algorithm, one.time(), static_cast<int>(one.times.size()), everywhere[i] == 1});
  }
  return entries;
}

}  // namespace stretto::measure

// SPDX-License-Identifier: BSD-3-Clause
#include "race/contest.hpp"

#include <algorithm>
#include <memory>

namespace stretto::race {
namespace {

using intercept::constants;
using intercept::native;

constexpr std::string_view native_word = "native";
constexpr char reference = '+';
constexpr double shortest_block = 2e-4;
constexpr double patience = 10e-3;  // for the tries with one number of calls: more than a time slice of another process
constexpr double hopeless = 3;      // times the fastest when the first calls were counted, twice: no block is timed
constexpr double far_too_long = 5;  // seconds beyond those given: then even few blocks are too many
constexpr std::size_t few = 3;      // blocks: fewer say nothing
constexpr std::size_t enough = 12;  // for the last that is left

/// Times that are beyond doubt: three quarters of the one's blocks took longer than three quarters of the other's.
bool slower(std::vector<double> one, std::vector<double> other) {
  std::ranges::sort(one);
  std::ranges::sort(other);
  return quantile(one, 0.25) > quantile(other, 0.75);
}

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return quantile(times, 0.5);
}

class Contestant {
 public:
  Contestant(const Cell& cell, const std::string& words, const Functions& native_functions,
             const StrettoLibrary& library)
      : words(words.starts_with(reference) ? words.substr(1) : words),
        is_native(this->words == native_word),
        is_reference(is_native || words.starts_with(reference)),
        side{is_native ? native_functions : library.functions, !is_native},
        library_(library) {
    if (is_native) return;
    MPI_Info info;
    native().Info_create(&info);
    const std::string key = "stretto_" + std::string(facts(cell.kind.function).name);
    native().Info_set(info, key.c_str(), this->words.c_str());
    library_.dup_with_info(constants().world, info, &side.comm);
    native().Info_free(&info);
  }
  ~Contestant() {
    if (!is_native) library_.free(&side.comm);
  }
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  /// A block, and the check of its last call. The native library's results are the ones to have.
  void run(Runner& runner) {
    runner.spoil();
    if (side.one < cheap_call) call(runner, side);
    side.times.push_back(slowest(block(runner, side, side.calls)));
    correct = correct && (is_native || runner.equal());
  }

  std::string words;
  bool is_native;
  bool is_reference;  // timed to the end, however slow
  Side side;
  bool in = true;
  bool correct = true;
  std::string algorithm = std::string(native_word);

 private:
  const StrettoLibrary& library_;
};

using Contestants = std::vector<std::unique_ptr<Contestant>>;

void drop_slower(Contestants& all) {
  const Contestant* best = nullptr;
  for (const auto& one : all)
    if (!one->is_native && one->in && (!best || median(one->side.times) < median(best->side.times))) best = one.get();
  for (const auto& one : all)
    if (!one->is_reference && one.get() != best && one->in && slower(one->side.times, best->side.times))
      one->in = false;
}

bool decided(const Contestants& all) {
  const auto left = std::ranges::count_if(all, [](const auto& one) { return !one->is_reference && one->in; });
  return left <= 1 && std::ranges::all_of(all, [](const auto& one) {
           return !one->in || one->side.times.size() >= enough || one->side.one > cheap_call;
         });
}

/// First calls, and how many fill a block.
void warm_up(Contestants& all, Runner& runner, double block_seconds, const StrettoLibrary& library,
             const std::function<void(const std::string&)>& stage) {
  double best = 0;
  for (const auto& one : all) {
    stage(one->words);
    call(runner, one->side);
    if (!one->is_native) one->algorithm = library.last_algorithm();
    calibrate(runner, one->side, block_seconds, patience);
    if (!one->is_native && (best == 0 || one->side.one < best)) best = one->side.one;
  }
  for (const auto& one : all) {
    if (one->is_reference || one->side.one <= hopeless * best) continue;
    if (one->side.one < cheap_call)
      calibrate(runner, one->side, block_seconds, patience);  // it may have been disturbed
    one->in = one->side.one <= hopeless * best;
  }
}

void rounds(Contestants& all, Runner& runner, const Functions& native_functions, double seconds, double begun) {
  for (std::size_t round = 0; round < most_blocks; ++round) {
    runner.refresh(static_cast<int>(round));
    runner.call(native_functions, false, constants().world);
    for (std::size_t i = 0; i < all.size(); ++i) {
      Contestant& one = *all[(i + round) % all.size()];
      if (one.in) one.run(runner);
    }
    const double spent = slowest(native().Wtime() - begun);
    if (round + 1 < few && spent < seconds + far_too_long) continue;
    drop_slower(all);
    if (decided(all) || spent > seconds) return;
  }
}

}  // namespace

std::vector<Entry> contest(const Cell& cell, const std::vector<std::string>& candidates,
                           const Functions& native_functions, const StrettoLibrary& library, double seconds,
                           const std::function<void(const std::string&)>& stage) {
  const double begun = native().Wtime();
  Runner runner(cell);
  Contestants all;
  for (const std::string& words : candidates)
    all.push_back(std::make_unique<Contestant>(cell, words, native_functions, library));
  const double share = seconds / 8 / static_cast<double>(std::max<std::size_t>(candidates.size(), 1));
  runner.refresh(0);
  warm_up(all, runner, std::clamp(share, shortest_block, longest_block), library, stage);
  stage("all");
  rounds(all, runner, native_functions, seconds, begun);
  std::vector<Entry> entries;
  for (const auto& one : all) {
    const int blocks = static_cast<int>(one->side.times.size());
    if (blocks == 0) one->side.times.push_back(one->side.one);
    entries.push_back(
        {one->words, one->algorithm, summary(one->side.times, one->side.calls), blocks, on_all_ranks(one->correct)});
  }
  return entries;
}

}  // namespace stretto::race

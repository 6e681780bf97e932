// SPDX-License-Identifier: BSD-3-Clause
//
// What a program that learns would do with calls of one class, asked for line by line, with a line of JSON for each
// answer:
//
//   candidates FUNCTION RANKS BYTES [RULES]   what is compared, of ranks on as many nodes, and which one serves at
//                                             first: what such a file chooses, else the native function
//   play FUNCTION RANKS BYTES FIRST TELLING OFFERED (CANDIDATE SECONDS)…
//                                             what becomes of such candidates, if they take so long in every call. Of
//                                             them, OFFERED are compared from the beginning, the native function
//                                             first; number FIRST serves at first. Ranks take TELLING seconds to tell
//                                             each other the times of a round. What is to be compared next, but has no
//                                             time yet, is in the answer. 0 seconds: it is left out.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>

#include "learn/candidates.hpp"
#include "learn/comparison.hpp"
#include "learn/refinements.hpp"
#include "learn/round.hpp"
#include "stretto/error.hpp"

namespace stretto::lab {
namespace {

template <typename T>
T next(std::istream& words, const char* what) {
  T value;
  if (!(words >> value))
    throw Error("there is no " + std::string(what), "lab/simgrid/learner/learner.cc has the lines");
  return value;
}

/// As on a communicator whose ranks have met: each has a node of its own, and no memory in common with others.
Call call_of(std::istream& words) {
  const std::string name = next<std::string>(words, "function");
  const auto function = function_named(name);
  if (!function) throw Error("'" + name + "' is no function", "allreduce");
  Call call{.function = *function, .shape = {next<Rank>(words, "number of ranks"), 0, {}, {}}};
  call.bytes = next<Bytes>(words, "size");
  call.shape.nodes.resize(static_cast<std::size_t>(call.shape.ranks));
  std::iota(call.shape.nodes.begin(), call.shape.nodes.end(), 0);
  call.kernel_copy = KernelCopy::refused;
  return call;
}

/// As in STRETTO_ALLREDUCE.
std::string text_of(const learn::Candidate& candidate) {
  std::string text = written(candidate.algorithm, candidate.params);
  std::ranges::replace(text, ' ', ',');
  return text;
}

std::string list_of(const std::vector<learn::Candidate>& candidates) {
  std::string text;
  for (const learn::Candidate& one : candidates) text += (text.empty() ? "\"" : ", \"") + text_of(one) + '"';
  return '[' + text + ']';
}

void candidates(std::istream& words) {
  const Call call = call_of(words);
  std::string path;
  words >> path;
  const Rules own = path.empty() ? Rules{} : read_rules(path);
  const std::vector<learn::Candidate> found = learn::candidates(path.empty() ? shipped_rules() : own, call);
  const Choice choice = choose(own, call);
  const auto first = std::ranges::find(found, learn::Candidate{choice.algorithm, choice.params}) - found.begin();
  std::printf("{\"first\": %td, \"words\": %s}\n", choice.line > 0 && first < std::ssize(found) ? first : 0,
              list_of(found).c_str());
}

/// Of a class's calls; times go the way of those that ranks measure.
class Program {
 public:
  Program(Call call, std::vector<learn::Candidate> candidates, std::map<std::string, double> known, std::size_t first,
          double telling)
      : call_(std::move(call)),
        candidates_(std::move(candidates)),
        known_(std::move(known)),
        telling_(telling),
        comparison_(candidates_.size(), first, false) {
    for (const learn::Candidate& one : candidates_) seconds_.push_back(known_.at(text_of(one)));
  }

  void play() {
    round_.begin(0);
    do {
      compare_all();
    } while (comparison_.settled() && refine());
  }

  void report() const {
    std::printf(
        "{\"choice\": \"%s\", \"settled\": %s, \"calls\": %llu, \"worst\": %.6f, \"compared\": %s, \"unknown\": %s}\n",
        text_of(candidates_[comparison_.current()]).c_str(), comparison_.settled() ? "true" : "false",
        static_cast<unsigned long long>(calls_), worst_, list_of(candidates_).c_str(), list_of(unknown_).c_str());
  }

 private:
  static constexpr std::uint64_t most_calls = 100'000'000;

  void compare_all() {
    while (!comparison_.settled() && calls_ < most_calls) {
      if (comparison_.quiet > 0) {
        make(comparison_.current(), comparison_.quiet);
        comparison_.quiet = 0;
        continue;
      }
      const learn::Comparison::Turn turn = comparison_.next_turn();
      const auto begin = static_cast<learn::Moment>(spent_ * 1e9);
      make(turn.candidate, 1);
      round_.set(round_.add(), {begin, begin + static_cast<learn::Moment>(seconds_[turn.candidate] * 1e9)});
      if (turn.last) conclude();
    }
  }

  /// Is there more to compare?
  bool refine() {
    const std::size_t before = candidates_.size();
    while (candidates_.size() == before && unknown_.empty()) {
      const auto more = learn::next_refinements(candidates_, comparison_, call_, left_out_);
      if (more.empty()) return false;
      for (const learn::Candidate& one : more) add(one);
    }
    if (!unknown_.empty()) return false;
    comparison_.add(candidates_.size() - before);
    return true;
  }

  void add(const learn::Candidate& one) {
    const auto found = known_.find(text_of(one));
    if (found == known_.end()) {
      unknown_.push_back(one);
    } else if (found->second > 0) {
      candidates_.push_back(one);
      seconds_.push_back(found->second);
    } else {
      left_out_.push_back(one);
    }
  }

  void make(std::size_t candidate, std::uint64_t calls) {
    calls_ += calls;
    spent_ += static_cast<double>(calls) * seconds_[candidate];
    compare();
  }

  void conclude() {
    const auto told = learn::Round::conclude(round_.numbers(0), 1);
    spent_ += telling_;
    compare();
    comparison_.conclude(told.seconds, telling_);
    round_.begin(0);
  }

  /// With as many native calls.
  void compare() { worst_ = std::max(worst_, spent_ / (static_cast<double>(calls_) * seconds_[0])); }

  Call call_;
  std::vector<learn::Candidate> candidates_, unknown_, left_out_;
  std::map<std::string, double> known_;
  std::vector<double> seconds_;  // of each candidate
  double telling_;
  learn::Comparison comparison_;
  learn::Round round_;
  std::uint64_t calls_ = 0;
  double spent_ = 0;  // seconds
  double worst_ = 0;
};

void play(std::istream& words) {
  Call call = call_of(words);
  const auto first = next<std::size_t>(words, "candidate");
  const auto telling = next<double>(words, "time of telling");
  const auto offered = next<std::size_t>(words, "number of candidates");
  std::vector<learn::Candidate> candidates;
  std::map<std::string, double> known;
  for (std::string candidate; words >> candidate;) {
    const AlgorithmSpec spec = parse_algorithm_spec(call.function, candidate);
    const auto seconds = next<double>(words, "time");
    if (candidates.size() < offered) {
      candidates.push_back({spec.algorithm, spec.params});
      if (seconds <= 0) throw Error("a call takes no time", "seconds above 0");
    }
    known[candidate] = seconds;
  }
  if (first >= candidates.size()) throw Error("there is no candidate " + std::to_string(first), "the first one is 0");
  Program program(std::move(call), std::move(candidates), std::move(known), first, telling);
  program.play();
  program.report();
}

void answer(const std::string& line) {
  std::istringstream words(line);
  const auto what = next<std::string>(words, "question");
  if (what == "candidates") return candidates(words);
  if (what == "play") return play(words);
  throw Error("'" + what + "' is no question", "candidates, or play");
}

}  // namespace
}  // namespace stretto::lab

int main() {
  try {
    for (std::string line; std::getline(std::cin, line);) stretto::lab::answer(line);
  } catch (const stretto::Error& e) {
    std::fprintf(stderr, "error: %s\nhint: %s\n", e.what(), e.hint().c_str());
    return 2;
  }
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
//
// What a choice is refined by, and how ranks name it.
#include "learn/refinements.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "support/test.hpp"

namespace stretto::learn::learn_refinements_test {
namespace {

Call call_of(Function function, Bytes bytes, Rank ranks, Rank per_node) {
  Call call{.function = function, .shape = {ranks, 0, {}, {}}, .bytes = bytes};
  for (Rank r = 0; r < ranks; ++r) call.shape.nodes.push_back(r / per_node);
  call.per_node = per_node;
  return call;
}

Candidate candidate(Function function, std::string words) {
  std::ranges::replace(words, ' ', ',');
  const AlgorithmSpec spec = parse_algorithm_spec(function, words);
  return {spec.algorithm, spec.params};
}

/// As rules have them.
std::set<std::string> words_of(const std::vector<Candidate>& candidates) {
  std::set<std::string> words;
  for (const Candidate& one : candidates) words.insert(written(one.algorithm, one.params));
  return words;
}

TEST(segments_and_their_number_in_flight_are_changed) {
  const Call call = call_of(Function::allreduce, 1 << 20, 16, 1);
  const auto refined = [&](const std::string& words) {
    return words_of(refinements(candidate(Function::allreduce, words), call));
  };
  CHECK(refined("native").empty());
  CHECK((refined("ring") ==
         std::set<std::string>{"ring segment=512K depth=2", "ring segment=256K depth=2", "ring segment=64K depth=8"}));
  CHECK((refined("ring segment=64K depth=2") ==
         std::set<std::string>{"ring segment=256K depth=2", "ring segment=16K depth=2", "ring segment=64K depth=8"}));
  CHECK((refined("ring segment=512K depth=2") ==
         std::set<std::string>{"ring", "ring segment=128K depth=2"}));  // no third segment
  CHECK((refined("ring segment=16K depth=32") ==
         std::set<std::string>{"ring segment=64K depth=32", "ring segment=16K depth=8"}));
}

TEST(parameters_are_doubled_and_halved_twice) {
  const Call call = call_of(Function::gather, 64, 32, 1);
  const auto refined = [&](const std::string& words) {
    return words_of(refinements(candidate(Function::gather, words), call));
  };
  CHECK(
      (refined("knomial radix=12") == std::set<std::string>{"knomial radix=24", "knomial radix=6", "knomial radix=3"}));
  CHECK((refined("knomial radix=20") == std::set<std::string>{"knomial radix=10", "knomial radix=5"}));  // of 32 ranks
  CHECK(refined("knomial radix=8").contains("knomial radix=32"));
  const auto of_usual = refined("knomial");
  CHECK(!of_usual.empty());
  for (const std::string& words : of_usual) CHECK(refined(words).contains("knomial"));  // with no radix in words
}

TEST(parameters_are_changed_with_segments_and_without) {
  const Call call = call_of(Function::reduce, 100'000, 32, 1);
  const auto refined = words_of(refinements(candidate(Function::reduce, "knomial segment=16K depth=8 radix=8"), call));
  for (const std::string radix : {"4", "16", "32"}) {
    const std::string own = radix == "4" ? "" : " radix=" + radix;  // the usual one
    CHECK(refined.contains("knomial segment=16K depth=8" + own));
    CHECK(refined.contains("knomial" + own));
  }
}

/// Lets each candidate take its time until all have been compared.
void compare(Comparison& comparison, const std::vector<double>& seconds) {
  std::vector<double> round;
  for (int calls = 0; !comparison.settled() && calls < 1'000'000; ++calls) {
    comparison.quiet = 0;
    const Comparison::Turn turn = comparison.next_turn();
    round.push_back(seconds[turn.candidate]);
    if (!turn.last) continue;
    comparison.conclude(round, 1e-6);
    round.clear();
  }
  CHECK(comparison.settled());
}

TEST(others_that_are_near_are_refined_when_the_choice_cannot_be) {
  const Call call = call_of(Function::allreduce, 1 << 20, 16, 1);
  std::vector<Candidate> compared{
      {}, candidate(Function::allreduce, "ring"), candidate(Function::allreduce, "halving_doubling")};
  Comparison comparison(compared.size(), 0, false);
  std::vector<double> seconds{9e-3, 1e-3, 1.2e-3};
  compare(comparison, seconds);
  const std::vector<Candidate> first = next_refinements(compared, comparison, call);
  CHECK(words_of(first) == words_of(refinements(compared[1], call)));
  const std::vector<Candidate> second = next_refinements(compared, comparison, call, first);
  CHECK(words_of(second) == words_of(refinements(compared[2], call)));

  for (const auto* all : {&first, &second}) compared.insert(compared.end(), all->begin(), all->end());
  comparison.add(compared.size() - seconds.size());
  seconds.resize(compared.size(), 5e-3);
  compare(comparison, seconds);
  CHECK_EQ(comparison.current(), std::size_t{1});
  CHECK(next_refinements(compared, comparison, call).empty());
}

TEST(what_is_near_the_native_function_is_refined) {
  const Call call = call_of(Function::allreduce, 1 << 20, 16, 1);
  const std::vector<Candidate> compared{{}, candidate(Function::allreduce, "ring")};
  for (const double seconds : {1.2e-3, 1.4e-3}) {
    Comparison comparison(compared.size(), 0, false);
    compare(comparison, {1e-3, seconds});
    CHECK_EQ(next_refinements(compared, comparison, call).empty(), seconds > 1.3e-3);
  }
}

TEST(no_more_are_compared_than_the_most) {
  const Call call = call_of(Function::allreduce, 1 << 20, 16, 1);
  const Candidate ring = candidate(Function::allreduce, "ring");
  std::vector<Candidate> compared{ring};
  while (compared.size() < most_refined - 1) {
    compared.push_back(ring);
    compared.back().params.segment = (32 + static_cast<Bytes>(compared.size())) << 10;
  }
  const Comparison comparison(compared.size(), 0, true);
  CHECK_EQ(next_refinements(compared, comparison, call).size(), std::size_t{1});
}

TEST(lists_of_the_rules_make_candidates) {
  const Rules rules = parse_rules(
      "stretto-rules 2\n"
      "reduce_scatter ranks=6 -> circulant skips=4:2:1\n"  // not of where ranks are
      "bcast ranks=6 bytes>=1M -> lanes nodes=0:1:0:1:0:1\n"
      "bcast ranks=8 -> lanes nodes=0:1:0:1:0:1:0:1\n"
      "reduce ranks=6 -> lanes nodes=0:1:2:3:4:5\n"  // as they are
      "allgather ranks=6 -> logical_ring order=0:2:4:1:3:5\n",
      "lists.rules");
  const Call call = call_of(Function::allreduce, 4096, 6, 1);
  const std::vector<Candidate> found = candidates(rules, call);
  const auto all = words_of(found);
  CHECK(!all.contains("lanes nodes=0:1:2:3:4:5"));
  for (const Candidate& one : found) CHECK(decoded(code_of(one, found), found) == one);
  // Of three ranks on each of two nodes there are three lanes unless it is said.
  const auto refined = words_of(refinements(candidate(Function::allreduce, "lanes nodes=0:1:0:1:0:1"), call));
  CHECK(refined.contains("lanes lanes=1 nodes=0:1:0:1:0:1") && refined.contains("lanes lanes=6 nodes=0:1:0:1:0:1"));
  CHECK(all.contains("lanes nodes=0:1:0:1:0:1"));
  CHECK(all.contains("leaders nodes=0:1:0:1:0:1"));
  CHECK(all.contains("logical_ring order=0:2:4:1:3:5"));
  CHECK(!all.contains("lanes nodes=0:1:0:1:0:1:0:1"));
}

TEST(larger_parameters_are_candidates) {
  const Call call = call_of(Function::bcast, 64 << 10, 64, 1);
  Rules none;
  none.file = "none";
  const auto all = candidates(none, call, 100);
  CHECK(std::ranges::any_of(all, [](const Candidate& one) { return one.params.value > 0; }));
}

TEST(shipped_rules_have_no_lists) {  // ranks that were given their text would have other candidates
  for (const Rule& rule : parse_rules(shipped_rules_text, "shipped").rules) CHECK(rule.params.list.empty());
}

TEST(all_serve_the_call_and_have_codes) {
  for (const Function f : all_functions) {
    if (!learns(f)) continue;
    for (const Bytes bytes : {Bytes{0}, Bytes{8}, Bytes{100'000}, Bytes{16} << 20})
      for (const Rank per_node : {24, 1, 2}) {
        const Call call = call_of(f, bytes, 24, per_node);
        const std::vector<Candidate> offered = candidates(shipped_rules(), call);
        std::set<std::int64_t> codes;
        std::set<std::string> words;
        const auto look_at = [&](const Candidate& one) {
          CHECK(serves(one, call));
          const std::int64_t code = code_of(one, offered);
          CHECK(code > 0 && code < std::int64_t{1} << 60);
          CHECK(decoded(code, offered) == one);
          codes.insert(code);
          words.insert(written(one.algorithm, one.params));
        };
        for (const Candidate& one : offered) {
          look_at(one);
          for (const Candidate& other : refinements(one, call)) {
            CHECK(!(other == one));
            look_at(other);
          }
        }
        CHECK_EQ(codes.size(), words.size());
      }
  }
}

TEST(what_is_in_no_list_has_no_code) {
  const std::vector<Candidate> list{{}, candidate(Function::allreduce, "ring")};
  CHECK_EQ(code_of(candidate(Function::allreduce, "recursive_doubling"), list), std::int64_t{0});
  Candidate deep = candidate(Function::allreduce, "ring segment=64K");
  deep.params.depth = 1000;
  CHECK_EQ(code_of(deep, list), std::int64_t{0});
  CHECK(!decoded(0, list));
  CHECK(!decoded(63, list));
}

}  // namespace
}  // namespace stretto::learn::learn_refinements_test

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

TEST(parameters_are_doubled_and_halved) {
  const Call call = call_of(Function::gather, 64, 32, 1);
  const auto refined = [&](const std::string& words) {
    return words_of(refinements(candidate(Function::gather, words), call));
  };
  CHECK((refined("knomial radix=12") == std::set<std::string>{"knomial radix=24", "knomial radix=6"}));
  CHECK((refined("knomial radix=20") == std::set<std::string>{"knomial radix=10"}));  // of 32 ranks
  const auto of_usual = refined("knomial");
  CHECK(!of_usual.empty());
  for (const std::string& words : of_usual) CHECK(refined(words).contains("knomial"));  // with no radix in words
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

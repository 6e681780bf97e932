// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/algorithm_file.hpp"

#include <string>

#include "stretto/builder.hpp"
#include "stretto/error.hpp"
#include "support/test.hpp"

namespace stretto::algorithm_file_test {
namespace {

/// Of an algorithm of the portfolio.
std::string text_of(std::string_view id, Rank ranks, Rank root = 0) {
  const Algorithm& algorithm = *find_algorithm(id);
  std::vector<Schedule> all;
  for (Rank r = 0; r < ranks; ++r) all.push_back(build_schedule(algorithm, {.ranks = ranks, .root = root}, r));
  return to_text(all, algorithm.needs.commutative);
}

std::string error_of(const std::string& text) {
  try {
    const AlgorithmFile file(text, "f");
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(record_of_a_file) {
  const AlgorithmFile file(text_of("allreduce/ring", 4), "my.stretto");
  const Algorithm& algorithm = file.algorithm();
  const Shape four{.ranks = 4};
  CHECK_EQ(algorithm.id, "allreduce/file:my.stretto");
  CHECK(algorithm.needs.commutative);
  CHECK_EQ(unsuitable(algorithm, four), "");
  CHECK_EQ(unsuitable(algorithm, {.ranks = 5}), "it holds no schedules for 5 ranks, but for 4");
  CHECK_EQ(unsuitable(algorithm, Function::allreduce, four, false, {}), "the operator does not commute");
  CHECK_EQ(to_text(build_schedule(algorithm, four, 2)),
           to_text(build_schedule(*find_algorithm("allreduce/ring"), four, 2)));
  CHECK(!check(algorithm, four).refused);
  CHECK_EQ(file.text(), text_of("allreduce/ring", 4));
}

TEST(roots_of_a_file) {
  const AlgorithmFile file(text_of("bcast/binomial", 3, 1), "f");
  CHECK_EQ(unsuitable(file.algorithm(), {.ranks = 3, .root = 1}), "");
  CHECK_EQ(unsuitable(file.algorithm(), {.ranks = 3, .root = 2}),
           "it holds no schedules for root 2 of 3 ranks, but for 1");
}

TEST(ranks_forward_what_they_keep_in_scratch) {
  CHECK(AlgorithmFile(text_of("gather/binomial", 4), "f").algorithm().forwards);
  CHECK(!AlgorithmFile(text_of("gather/linear", 4), "f").algorithm().forwards);
}

// A schedule that the checker refuses is never built: unsuitable() says why, news() once.
TEST(refusal_of_a_file) {
  std::string text = text_of("allgather/ring", 2);
  text.erase(text.rfind("  receive"));
  const AlgorithmFile file(text, "f");
  const std::string why = unsuitable(file.algorithm(), {.ranks = 2});
  CHECK_EQ(why.substr(0, 50), "refused: f:5: unmatched message: on 2 ranks, rank ");
  CHECK_EQ("refused: " + file.news({.ranks = 2}), why);
  CHECK_EQ(file.news({.ranks = 2}), "");
  CHECK_EQ(file.news({.ranks = 3}), "");
}

std::string why_not(const std::string& text) {
  const AlgorithmFile file(text, "f");
  return unsuitable(file.algorithm(), {.ranks = 1});
}

// Whoever sends a file may not bring the reader down.
TEST(files_that_are_too_large_to_check) {
  const std::string blocks = "schedule allreduce/x ranks=1 rank=0 root=0 blocks=";
  CHECK_EQ(why_not(blocks + "134217728\n"),
           "refused: f:1: malformed: on 1 rank, schedule 0: too many blocks to check: 134217728");
  std::string copies = blocks + "1048576\nround\n";
  for (int i = 0; i < 65; ++i) copies += "  copy output[0:1048576] = input[0:1048576]\n";
  CHECK_EQ(why_not(copies),
           "refused: f:2: malformed: on 1 rank, rank 0, round 1: here messages and actions are too many to check");
}

TEST(files_that_are_none) {
  const std::string ring = text_of("allgather/ring", 2);
  CHECK_EQ(error_of(""), "f: no schedule in it");
  CHECK_EQ(error_of(ring + ring.substr(20)), "f:14: rank 0 of 2 where rank 2 is awaited");
  CHECK_EQ(error_of("schedule all/x ranks=1 rank=0 root=0 blocks=1\n"),
           "f:1: 'all/x' does not begin with a collective");
  CHECK_EQ(error_of(ring + text_of("bcast/linear", 2).substr(20)),
           "f:14: a schedule of bcast/linear among those of allgather/ring");
  CHECK_EQ(error_of("schedule scan/x ranks=1 rank=0 root=1 blocks=1\n"), "f:1: rank 0 or root 1 is not one of 1 rank");
  CHECK_EQ(error_of("schedule gather/x ranks=1 rank=0 root=0 blocks=2 parts=0,2\n"),
           "f:1: the parts of gather are not cut into blocks");
  CHECK_EQ(error_of("schedule allgather/x ranks=2 rank=0 root=0 blocks=2 parts=0,2,2\n"),
           "f:1: rank 1 has no block for its part");
}

}  // namespace
}  // namespace stretto::algorithm_file_test

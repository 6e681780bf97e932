// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/rules.hpp"

#include <unistd.h>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "stretto/error.hpp"
#include "support/test.hpp"

namespace stretto {
namespace {

const std::string head = "stretto-rules 1\n";

struct Refusal {
  std::string what, hint;
};

template <typename Body>
Refusal refusal_of(Body body) {
  try {
    body();
  } catch (const Error& e) {
    return {e.what(), e.hint()};
  }
  return {"no error", ""};
}

Refusal refusal_of_rules(const std::string& text) {
  return refusal_of([&] { (void)parse_rules(text, "my.rules"); });
}

void check_refused(const std::string& text, const std::string& what, const std::string& in_hint) {
  const Refusal refusal = refusal_of_rules(text);
  CHECK_EQ(refusal.what, what);
  CHECK_EQ(refusal.hint.find(in_hint) == std::string::npos ? refusal.hint : in_hint, in_hint);
  CHECK(!refusal.hint.empty());
}

/// "choose from binomial, scatter_allgather, native", for functions that all algorithms of the collective serve.
std::string names_for(Collective collective) {
  std::string names = "choose from ";
  for (const Algorithm* a : all_algorithms())
    if (a->collective == collective) names += std::string(a->name()) + ", ";
  return names + "native";
}

TEST(wrong_files_are_refused_by_line) {
  const std::string heading = "begins with the line 'stretto-rules 1'";
  check_refused("", "my.rules:1: the file is empty", heading);
  check_refused("\n# only a comment\n", "my.rules:2: the file is empty", heading);
  check_refused("\nallreduce -> ring\n", "my.rules:2: this is not a rules file", heading);
  check_refused("stretto-rules\n", "my.rules:1: this is not a rules file", heading);
  check_refused("stretto-rules 1 2\n", "my.rules:1: this is not a rules file", heading);
  check_refused("stretto-rules 2\n", "my.rules:1: unknown version '2'", heading);
}

TEST(wrong_rules_are_refused_by_line) {
  const std::string ending = "a rule ends with '-> algorithm'";
  const std::string names = "allgatherv, alltoall, alltoallv, alltoallw, reduce, allreduce, reduce_scatter_block, ";
  check_refused(head + "alreduce -> ring\n", "my.rules:2: unknown collective 'alreduce'", names);
  check_refused(head + "\n# c\nstretto-rules 1\n", "my.rules:4: unknown collective 'stretto-rules'", names);
  check_refused(head + "allreduce\n", "my.rules:2: no algorithm", ending);
  check_refused(head + "allreduce bytes<5 ->\n", "my.rules:2: no algorithm", ending);
  check_refused(head + "allreduce -> # ring\n", "my.rules:2: no algorithm", ending);
  check_refused(head + "allreduce -> rong\n", "my.rules:2: unknown algorithm 'rong' for allreduce",
                names_for(Collective::allreduce));
  check_refused(head + "bcast -> ring\n", "my.rules:2: unknown algorithm 'ring' for bcast",
                names_for(Collective::bcast));
  check_refused(head + "allreduce -> allreduce/ring\n", "my.rules:2: unknown algorithm 'allreduce/ring' for allreduce",
                "choose from");
}

TEST(wrong_conditions_are_refused_by_line) {
  for (const std::string word : {"ring",
                                 "bytes",
                                 "bytes<",
                                 "bytes<=x",
                                 "bytes<-1",
                                 "bytes<>5",
                                 "bytes==5",
                                 "bytes5",
                                 "bytes=<5",
                                 "bytes<1KB",
                                 "bytes<1.5K",
                                 "bytes<8589934592G",
                                 "bytes<9223372036854775807",
                                 "bytes<99999999999999999999",
                                 "ranks=2^3",
                                 "ranks<2^k",
                                 "ranks!=4",
                                 "operator=",
                                 "operator=sum",
                                 "operator",
                                 "segment=5",
                                 "BYTES<5"})
    check_refused(head + "bcast -> native\nallreduce " + word + " -> ring\n",
                  "my.rules:3: unknown condition '" + word + "'", "conditions are bytes and ranks");
  for (const std::string pair :
       {"bytes<5 bytes>5", "bytes>=10 bytes=9", "bytes=5 bytes=6", "ranks>8 ranks<=8", "x bytes<0"}) {
    const std::string words = pair.starts_with("x ") ? pair.substr(2) : pair;
    check_refused(head + "allreduce " + words + " -> ring\n",
                  "my.rules:2: no call can fulfil '" + pair.substr(pair.find(' ') + 1) + "'", "check the bounds");
  }
  check_refused(head + "allreduce ranks=2^k ranks!=2^k -> ring\n",
                "my.rules:2: 'ranks!=2^k' stands beside another condition of its kind", "one rule for each");
  check_refused(head + "allreduce operator=user operator=commutative -> ring\n",
                "my.rules:2: 'operator=commutative' stands beside another condition of its kind", "one rule for each");
}

TEST(wrong_parameters_are_refused_by_line) {
  for (const std::string word : {"segment", "segment=", "segment=x", "segment=-1", "segment=5B", "depth=0", "depth=65",
                                 "depth=two", "width=3", "bytes<5", "->"})
    check_refused(head + "allreduce -> ring " + word + "\n", "my.rules:2: unknown parameter '" + word + "'",
                  "the parameters are segment=SIZE, depth=1…64");
}

TEST(files_that_cannot_be_read) {
  const Refusal refusal = refusal_of([] { (void)read_rules("/nowhere/my.rules"); });
  CHECK_EQ(refusal.what, "cannot read the rules file /nowhere/my.rules");
  CHECK(refusal.hint.find("STRETTO_RULES") != std::string::npos);

  const auto path = std::filesystem::temp_directory_path() / ("stretto-rules-test-" + std::to_string(getpid()));
  std::ofstream(path) << head << "allreduce -> rong\n";
  CHECK_EQ(refusal_of([&] { (void)read_rules(path.string()); }).what,
           path.string() + ":2: unknown algorithm 'rong' for allreduce");
  std::ofstream(path) << head << "allreduce -> ring\n";
  const Rules rules = read_rules(path.string());
  CHECK_EQ(rules.file, path.string());
  CHECK_EQ(rules.rules.size(), 1);
  std::filesystem::remove(path);
}

TEST(rules_are_read) {
  const Rules rules = parse_rules(
      "# before\n\nstretto-rules 1\r\n"
      "allreduce bytes>2K bytes<=1M ranks>=4 ranks<100 operator=predefined ranks=2^k -> ring segment=64k depth=4 # c\n"
      "reduce\tbytes=7 operator=not-commutative -> native\n",
      "f");
  CHECK_EQ(rules.file, "f");
  CHECK_EQ(rules.rules.size(), 2);
  const Rule& a = rules.rules.at(0);
  CHECK_EQ(a.function, Function::allreduce);
  CHECK_EQ(a.bytes.low, 2049);
  CHECK_EQ(a.bytes.high, 1 << 20);
  CHECK_EQ(a.ranks.low, 4);
  CHECK_EQ(a.ranks.high, 99);
  CHECK_EQ(a.ranks_are, RanksAre::power_of_two);
  CHECK_EQ(a.operator_is, OperatorIs::predefined);
  CHECK_EQ(a.algorithm, find_algorithm("allreduce/ring"));
  CHECK_EQ(a.params.segment, 65536);
  CHECK_EQ(a.params.depth, 4);
  CHECK_EQ(a.line, 4);
  const Rule& b = rules.rules.at(1);
  CHECK_EQ(b.bytes.low, 7);
  CHECK_EQ(b.bytes.high, 7);
  CHECK(b.algorithm == nullptr);
  CHECK(b.params == Params{});
  CHECK_EQ(b.line, 5);
}

TEST(sizes) {
  const auto size = [](std::string_view text) { return parse_size(text).value_or(-1); };
  CHECK_EQ(size("0"), 0);
  CHECK_EQ(size("100"), 100);
  CHECK_EQ(size("64K"), 65536);
  CHECK_EQ(size("3k"), 3072);
  CHECK_EQ(size("2M"), 2 << 20);
  CHECK_EQ(size("5g"), Bytes{5} << 30);
  CHECK_EQ(size("4294967296G"), Bytes{1} << 62);
  CHECK_EQ(size("4294967297G"), -1);
  CHECK_EQ(size("4611686018427387904"), Bytes{1} << 62);
  CHECK_EQ(size("4611686018427387905"), -1);
  CHECK_EQ(size("9223372036854775807"), -1);
  CHECK_EQ(size("9223372036854775807K"), -1);
  CHECK_EQ(size("18446744073709551617"), -1);
  for (const std::string_view text : {"", "K", "-1", "+1", "1.5", "1T", "1KB", " 1", "1 ", "0x10", "1e3"})
    CHECK_EQ(size(text), -1);
}

// The first rule that fits decides.

std::string chosen(const Rules& rules, const Call& call) {
  const Choice choice = choose(rules, call);
  return choice.algorithm ? std::string(choice.algorithm->name()) : "native";
}

TEST(conditions_hold_or_do_not) {
  const auto fits = [](const std::string& conditions, const Call& call) {
    return chosen(parse_rules(head + "reduce " + conditions + " -> binomial\n", "f"), call) == "binomial";
  };
  const Call call{
      .function = Function::reduce, .shape = {6, 0}, .bytes = 100, .commutative = false, .predefined = false};
  for (const char* yes : {"", "bytes<101", "bytes<=100", "bytes=100", "bytes>=100", "bytes>99", "ranks=6", "ranks!=2^k",
                          "operator=not-commutative", "operator=user", "ranks>5 bytes>5 ranks<7"})
    CHECK_EQ(fits(yes, call) ? "" : yes, "");
  for (const char* no : {"bytes<100", "bytes<=99", "bytes=99", "bytes>=101", "bytes>100", "ranks=5", "ranks=2^k",
                         "operator=commutative", "operator=predefined", "ranks>3 bytes>5 ranks<6"})
    CHECK_EQ(fits(no, call) ? no : "", "");
  const Call other{.function = Function::reduce, .shape = {8, 0}, .commutative = true, .predefined = true};
  CHECK(fits("ranks=2^k operator=commutative", other));
  CHECK(fits("operator=predefined", other));
  CHECK(!fits("ranks!=2^k", other));
  CHECK(!fits("operator=user", other));
  CHECK(!fits("operator=not-commutative", other));
  CHECK(!fits("", {.function = Function::allreduce, .shape = {8, 0}}));
}

TEST(unsuitable_algorithms_are_passed_over_with_the_reason) {
  const Rules rules = parse_rules(head +
                                      "allreduce bytes>1M -> ring\n"
                                      "allreduce -> ring segment=1K\n"
                                      "allreduce -> circulant\n"
                                      "allreduce ranks>4 -> recursive_doubling segment=2K depth=3\n",
                                  "f");
  Call call{.function = Function::allreduce, .shape = {5, 0}, .bytes = 8};
  Choice choice = choose(rules, call);
  CHECK_EQ(choice.algorithm, find_algorithm("allreduce/ring"));
  CHECK_EQ(choice.params.segment, 1024);
  CHECK_EQ(choice.reason, "f:3");
  call.commutative = false;
  choice = choose(rules, call);
  CHECK_EQ(choice.algorithm, find_algorithm("allreduce/recursive_doubling"));
  CHECK_EQ(choice.params.segment, 2048);
  CHECK_EQ(choice.params.depth, 3);
  CHECK_EQ(
      choice.reason,
      "f:5; not ring (line 3): the operator does not commute; not circulant (line 4): the operator does not commute");
  call.shape.ranks = 4;
  choice = choose(rules, call);
  CHECK(choice.algorithm == nullptr);
  CHECK_EQ(choice.reason,
           "no rule of f fits; not ring (line 3): the operator does not commute; "
           "not circulant (line 4): the operator does not commute");
}

// What is in rules/default.rules, written down a second time. A function without rules is left to the native library.

struct Expected {
  Function function;
  std::string_view (*algorithm)(const Call&);
};

constexpr Bytes K = 1024;

bool power(const Call& c) { return (c.shape.ranks & (c.shape.ranks - 1)) == 0; }

const Expected shipped[] = {
    {Function::barrier, [](const Call&) -> std::string_view { return "dissemination"; }},
    {Function::bcast,
     [](const Call& c) -> std::string_view {
       return c.bytes < 12 * K || c.shape.ranks < 8 ? "binomial" : "scatter_allgather";
     }},
    {Function::reduce,
     [](const Call& c) -> std::string_view { return c.bytes <= 2 * K ? "binomial" : "halving_gather"; }},
    {Function::allreduce,
     [](const Call& c) -> std::string_view {
       if (c.bytes <= 2 * K) return "recursive_doubling";
       return power(c) || !c.commutative ? "halving_doubling" : "circulant";
     }},
    {Function::allgather,
     [](const Call& c) -> std::string_view {
       if (power(c) && c.bytes < 512 * K) return "recursive_doubling";
       return c.bytes < 80 * K ? "bruck" : "ring";
     }},
    {Function::reduce_scatter_block,
     [](const Call& c) -> std::string_view {
       if (!c.commutative) return "native";
       return c.bytes <= 512 * K ? "circulant" : "pairwise";
     }},
};

std::string_view expected(const Call& call) {
  for (const Expected& e : shipped)
    if (e.function == call.function) return e.algorithm(call);
  return "native";
}

TEST(shipped_rules_choose_what_they_say) {
  std::size_t calls = 0;
  for (const Function function : all_functions)
    for (const Rank ranks : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 1024, 1000000})
      for (const Bytes edge : {0, 1, 8, 2048, 12288, 81920, 524288, 1 << 20, 1 << 30})
        for (const Bytes bytes : {edge - 1, edge, edge + 1, edge << 20})
          for (const bool commutative : {true, false})
            for (const bool predefined : {true, false}) {
              if (bytes < 0 || (predefined && !commutative) || (bytes > 0 && !facts(function).bytes_known)) continue;
              const Call call{function, {ranks, 0}, bytes, commutative, predefined};
              CHECK_EQ(chosen(shipped_rules(), call), expected(call));
              const Choice choice = choose(shipped_rules(), call);
              CHECK(choice.reason.starts_with(choice.algorithm ? "shipped rules:" : ""));
              if (choice.algorithm)
                CHECK_EQ(unsuitable(*choice.algorithm, function, call.shape, commutative, choice.params), "");
              ++calls;
            }
  CHECK(calls > 10000);
}

TEST(forced_values) {
  const auto forced = [](std::string_view value) { return parse_forced(Function::allreduce, value); };
  CHECK_EQ(forced("ring").algorithm, find_algorithm("allreduce/ring"));
  CHECK(forced("ring").params == Params{});
  CHECK(forced("ring,segment=64K,depth=4").params == (Params{.segment = 65536, .depth = 4, .list = {}}));
  CHECK(forced("native").algorithm == nullptr);
  const auto refusal = [&](std::string_view value) { return refusal_of([&] { (void)forced(value); }); };
  CHECK_EQ(refusal("rong").what, "unknown algorithm 'rong' for allreduce");
  CHECK_EQ(refusal("rong").hint, names_for(Collective::allreduce));
  CHECK_EQ(refusal("").what, "unknown algorithm '' for allreduce");
  CHECK_EQ(refusal("bruck,depth=2").what, "unknown algorithm 'bruck' for allreduce");
  for (const std::string word : {"depth=0", "size=4", "", "segment", "segment=x"}) {
    CHECK_EQ(refusal("ring,segment=1K," + word).what, "unknown parameter '" + word + "' of 'ring'");
    CHECK_EQ(refusal("ring,segment=1K," + word).hint,
             "the parameters are segment=SIZE, depth=1…64, as in ring,segment=64K,depth=4");
  }
}

}  // namespace
}  // namespace stretto

TEST_MAIN()

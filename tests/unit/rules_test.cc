// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/rules.hpp"

#include <unistd.h>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "stretto/error.hpp"
#include "support/test.hpp"

namespace stretto::rules_test {
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

/// "choose from binomial, scatter_ring, native", for functions that all algorithms of the collective serve.
std::string names_for(Collective collective) {
  std::string names = "choose from ";
  for (const Algorithm* a : all_algorithms())
    if (a->collective == collective) names += std::string(a->name()) + ", ";
  return names + "native";
}

TEST(wrong_files_are_refused_by_line) {
  const std::string heading = "begins with the line 'stretto-rules 2'";
  check_refused("", "my.rules:1: the file is empty", heading);
  check_refused("\n# only a comment\n", "my.rules:2: the file is empty", heading);
  check_refused("\nallreduce -> ring\n", "my.rules:2: this is not a rules file", heading);
  check_refused("stretto-rules\n", "my.rules:1: this is not a rules file", heading);
  check_refused("stretto-rules 1 2\n", "my.rules:1: this is not a rules file", heading);
  check_refused("stretto-rules 3\n", "my.rules:1: unknown version '3'", "reads versions 1 and 2");
}

TEST(machine_lines) {
  const std::string second = "stretto-rules 2\n";
  const Rules rules = parse_rules(second + "# c\nmachine  AMD EPYC,\t2 cores # c\nallreduce -> ring\n", "f");
  CHECK_EQ(rules.machine, "AMD EPYC, 2 cores");
  CHECK_EQ(rules.machine_line, 3);
  CHECK_EQ(rules.rules.size(), 1);
  for (const std::string& any : {second, head}) {
    CHECK_EQ(parse_rules(any + "allreduce -> ring\n", "f").machine, "");
    CHECK_EQ(parse_rules(any + "allreduce -> ring\n", "f").machine_line, 0);
  }
  check_refused(head + "machine X\n", "my.rules:2: version 1 has no machine line", "'stretto-rules 2'");
  const std::string place = "the machine line is out of place";
  check_refused(second + "machine\n", "my.rules:2: " + place, "stands before the first rule");
  check_refused(second + "machine X\nmachine X\n", "my.rules:3: " + place, "stands before the first rule");
  check_refused(second + "allreduce -> ring\nmachine X\n", "my.rules:3: " + place, "stands before the first rule");
}

TEST(rules_that_can_serve_nobody_are_refused_by_line) {
  const auto refused = [](const std::string& rule, const std::string& what, const std::string& why) {
    check_refused(head + rule + "\n",
                  "my.rules:2: '" + what + "' can serve no number of ranks that the rule admits: " + why,
                  "what lists must be like");
  };
  refused("allreduce ranks=8 -> circulant skips=5:2:1", "circulant skips=5:2:1",
          "skip 2 after 5: skips fall from below the number of ranks to 1, each at least half of the one before");
  refused("allgatherv ranks>8 ranks<12 -> circulant skips=4:2:1", "circulant skips=4:2:1",
          "skip 4 after 9: skips fall from below the number of ranks to 1, each at least half of the one before");
  refused("allreduce -> circulant skips=1:2", "circulant skips=1:2",
          "skip 1 after 1: skips fall from below the number of ranks to 1, each at least half of the one before");
  refused("allreduce ranks=4 -> logical_ring order=0:1:2", "logical_ring order=0:1:2",
          "the order does not name every rank once");
  refused("allreduce -> logical_ring segment=64K order=0:0", "logical_ring segment=64K depth=2 order=0:0",
          "the order does not name every rank once");
  refused("allreduce ranks=5 -> lanes nodes=0:0:1:1", "lanes nodes=0:0:1:1",
          "4 nodes for 5 ranks: the list has one for each rank, or as many again for each further level");
  refused("allreduce ranks=100 -> recursive_multiplying radices=4:4", "recursive_multiplying radices=4:4",
          "the radices make 16 of 100 ranks: at most half can be left over");
  refused("alltoall ranks!=2^k -> pairwise_xor", "pairwise_xor", "3 ranks are not a power of two");
  for (const std::string rule :
       {"allreduce ranks=8 -> circulant skips=4:2:1", "allreduce ranks>4 -> circulant skips=4:2:1",
        "allreduce ranks=3000000 -> ring", "alltoall ranks=2^k -> pairwise_xor",
        "allreduce ranks>=16 -> recursive_multiplying radices=4:4", "alltoall ranks>=300 -> pairwise_xor",
        "alltoall ranks>1 -> node_aware group=4096", "allreduce ranks>=2000000000 -> logical_ring"})
    CHECK_EQ(parse_rules(head + rule + '\n', "f").rules.size(), 1);
  refused("alltoall ranks>=300 ranks<512 -> pairwise_xor", "pairwise_xor", "300 ranks are not a power of two");
  refused("alltoall ranks>4096 ranks<8192 -> node_aware group=4096", "node_aware group=4096",
          "4097 ranks are no multiple of group=4096");
}

TEST(defaults_fit_all_ranks) {
  // Else parse_rules() would have to try them.
  for (const Algorithm* a : all_algorithms())
    for (Rank p = 1; p <= 300; ++p)
      if (a->needs.ranks == RanksNeeded::any) CHECK_EQ(unsuitable(*a, {p, 0, {}}), "");
}

TEST(wrong_rules_are_refused_by_line) {
  const std::string ending = "a rule ends with '-> algorithm'";
  const std::string names = "allgatherv, alltoall, alltoallv, alltoallw, reduce, allreduce, reduce_scatter_block, ";
  check_refused(head + "alreduce -> ring\n", "my.rules:2: unknown function 'alreduce'", names);
  check_refused(head + "\n# c\nstretto-rules 1\n", "my.rules:4: unknown function 'stretto-rules'", names);
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
                                 "cores",
                                 "cores=2",
                                 "cores=shared!",
                                 "operator=",
                                 "operator=sum",
                                 "operator",
                                 "segment=5",
                                 "BYTES<5"})
    check_refused(head + "bcast -> native\nallreduce " + word + " -> ring\n",
                  "my.rules:3: unknown condition '" + word + "'",
                  "conditions are bytes, part, ranks, per-node and to-node");
  for (const std::string pair :
       {"bytes<5 bytes>5", "bytes>=10 bytes=9", "bytes=5 bytes=6", "ranks>8 ranks<=8", "x bytes<0"}) {
    const std::string words = pair.starts_with("x ") ? pair.substr(2) : pair;
    check_refused(head + "allreduce " + words + " -> ring\n",
                  "my.rules:2: no call can fulfil '" + pair.substr(pair.find(' ') + 1) + "'", "check the bounds");
  }
  check_refused(head + "allreduce ranks=2^k ranks!=2^k -> ring\n",
                "my.rules:2: 'ranks!=2^k' stands beside another condition of its kind", "one rule for each");
  check_refused(head + "allreduce cores=own cores=shared -> ring\n",
                "my.rules:2: 'cores=shared' stands beside another condition of its kind", "one rule for each");
  check_refused(head + "allreduce operator=user operator=commutative -> ring\n",
                "my.rules:2: 'operator=commutative' stands beside another condition of its kind", "one rule for each");
}

TEST(wrong_parameters_are_refused_by_line) {
  for (const std::string word : {"segment", "segment=", "segment=x", "segment=-1", "segment=5B", "depth=0", "depth=65",
                                 "depth=two", "width=3", "bytes<5", "->"})
    check_refused(head + "allreduce -> ring " + word + "\n", "my.rules:2: wrong parameter '" + word + "'",
                  "the parameters are segment=SIZE, depth=1…64, copy=staged|kernel|measured");
}

// Parameters and lists of the algorithms' own.

/// A function that `a` serves.
Function function_of(const Algorithm& a) {
  for (const Function f : all_functions)
    if (unsuitable(a, f, {8, 0}, true, {}) != "it is no " + std::string(facts(f).name) &&
        facts(f).irregular >= a.needs.irregular)
      return f;
  return {};
}

std::string rule_with(const Algorithm& a, const std::string& words) {
  return head + std::string(facts(function_of(a)).name) + " -> " + std::string(a.name()) + ' ' + words + '\n';
}

const Params& params_of(const Rules& rules) { return rules.rules.at(0).params; }

TEST(parameters_of_algorithms) {
  int seen = 0;
  for (const Algorithm* a : all_algorithms()) {
    const Function function = function_of(*a);
    const std::string name(a->parameter.name), least = std::to_string(a->parameter.least);
    if (name.empty()) continue;
    ++seen;
    for (const std::int64_t value : {a->parameter.least, std::int64_t{4}, std::int64_t{65536}}) {
      const std::string word = name + '=' + std::to_string(value);
      const Params& expected{.segment = 0, .depth = 3, .value = value, .list = {}};
      CHECK(params_of(parse_rules(rule_with(*a, "depth=3 " + word), "f")) == expected);
      CHECK(parse_algorithm_spec(function, std::string(a->name()) + ',' + word + ",depth=3").params == expected);
    }
    CHECK_EQ(params_of(parse_rules(rule_with(*a, name + "=4K"), "f")).value, 4096);
    const std::string known = "the parameters are segment=SIZE, depth=1…64, copy=staged|kernel|measured, " + name +
                              '=' + least + "…" + std::to_string(a->parameter.most);
    for (const std::string& value : {std::to_string(a->parameter.least - 1), std::string("-1"), std::string("x"),
                                     std::string(), std::string("4:2")}) {
      const std::string word = name + '=' + value;
      check_refused(rule_with(*a, word), "my.rules:2: wrong parameter '" + word + "'", known);
      const Refusal spec =
          refusal_of([&] { (void)parse_algorithm_spec(function, std::string(a->name()) + ',' + word); });
      CHECK_EQ(spec.what, "wrong parameter '" + word + "' of '" + std::string(a->name()) + "'");
      CHECK(spec.hint.starts_with(known));
    }
    check_refused(rule_with(*a, name), "my.rules:2: wrong parameter '" + name + "'", known);
  }
  CHECK(seen > 0);
  // Another's parameter is none; nor has the native library any.
  check_refused(head + "allreduce -> ring radix=4\n", "my.rules:2: wrong parameter 'radix=4'",
                "the parameters are segment=SIZE, depth=1…64, copy=staged|kernel|measured");
  check_refused(head + "allreduce -> native radix=4\n", "my.rules:2: wrong parameter 'radix=4'",
                "the parameters are segment=SIZE, depth=1…64, copy=staged|kernel|measured");
}

TEST(copies_by_the_kernel) {
  const auto parsed = [](const std::string& words) {
    return parse_algorithm_spec(Function::alltoall, "linear" + words).params;
  };
  CHECK(parsed(",copy=kernel").copy == Copy::kernel && parsed(",copy=measured").copy == Copy::measured);
  CHECK(parsed("").copy == Copy::staged && parsed(",copy=kernel,copy=staged").copy == Copy::staged);
  const AlgorithmSpec spec = parse_algorithm_spec(Function::alltoall, "linear,copy=kernel,segment=1M");
  CHECK_EQ(written(spec.algorithm, spec.params), "linear segment=1M depth=2 copy=kernel");
  check_refused(head + "alltoall -> linear copy=twice\n", "my.rules:2: wrong parameter 'copy=twice'",
                "copy=staged|kernel|measured");
}

TEST(lists_of_algorithms) {
  int seen = 0;
  for (const Algorithm* a : all_algorithms()) {
    const std::string name(a->list);
    if (name.empty()) continue;
    ++seen;
    const auto list_of = [&](const std::string& numbers) {
      const AlgorithmSpec spec =
          parse_algorithm_spec(function_of(*a), std::string(a->name()) + ',' + name + '=' + numbers);
      const Params params = params_of(parse_rules(rule_with(*a, name + '=' + numbers), "f"));
      CHECK(spec.params == params);
      return params.list;
    };
    if (name == "skips") {
      CHECK(list_of("4:2:1") == (std::vector<Rank>{4, 2, 1}));
      CHECK(list_of("1") == std::vector<Rank>{1});
    } else if (name == "nodes") {
      CHECK(list_of("4:4:7:7") == (std::vector<Rank>{4, 4, 7, 7}));
      CHECK(list_of("0") == std::vector<Rank>{0});
    } else if (name == "order") {
      CHECK(list_of("0:3:2:1") == (std::vector<Rank>{0, 3, 2, 1}));
      CHECK(list_of("0") == std::vector<Rank>{0});
    } else {
      CHECK(list_of("4:6:4") == (std::vector<Rank>{4, 6, 4}));
      CHECK(list_of("2") == std::vector<Rank>{2});
    }
    for (const std::string numbers : {"", ":", "4:", ":4", "4::1", "4:x", "4:-1", "4:1K", "4.2", "4294967296"})
      check_refused(rule_with(*a, name + '=' + numbers), "my.rules:2: wrong parameter '" + name + '=' + numbers + "'",
                    name + "=A:B:C");
  }
  CHECK(seen > 0);
  check_refused(head + "allreduce -> native skips=4:2:1\n", "my.rules:2: wrong parameter 'skips=4:2:1'",
                "the parameters are segment=SIZE, depth=1…64, copy=staged|kernel|measured");
}

TEST(rules_ask_for_bytes_that_not_all_ranks_know) {
  for (const Function f : all_functions) {
    const bool known = f != Function::gatherv && f != Function::scatterv && f != Function::alltoallv &&
                       f != Function::alltoallw && !facts(facts(f).collective).neighbourhood;
    CHECK_EQ(facts(f).bytes_known, known);
    const std::string name(facts(f).name);
    CHECK_EQ(parse_rules(head + name + " ranks>4 bytes<1K -> native\n", "f").rules.at(0).bytes.high, 1023);
  }
}

TEST(files_that_cannot_be_read) {
  const Refusal refusal = refusal_of([] { (void)read_rules("/nowhere/my.rules"); });
  CHECK_EQ(refusal.what, "cannot read a rules file /nowhere/my.rules: No such file or directory");
  CHECK_EQ(refusal.hint, "name a file that rank 0 can read");

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

TEST(files_may_begin_with_a_byte_order_mark) {
  const std::string mark = "\xEF\xBB\xBF";
  CHECK_EQ(parse_rules(mark + head + "allreduce -> ring\n", "f").rules.size(), 1);
  check_refused(mark, "my.rules:1: the file is empty", "begins with the line");
  check_refused(mark + mark + head, "my.rules:1: this is not a rules file", "begins with the line");
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
  CHECK(a.demands("ranks=2^k") && !a.demands("ranks!=2^k"));
  CHECK(a.demands("operator=predefined") && !a.demands("operator=user"));
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

TEST(forced_values) {
  const auto spec = [](std::string_view value) { return parse_algorithm_spec(Function::allreduce, value); };
  CHECK_EQ(spec("ring").algorithm, find_algorithm("allreduce/ring"));
  CHECK(spec("ring").params == Params{});
  CHECK(spec("ring,segment=64K,depth=4").params == (Params{.segment = 65536, .depth = 4, .list = {}}));
  CHECK(spec("native").algorithm == nullptr);
  CHECK(spec("circulant,skips=4:2:1").params.list == (std::vector<Rank>{4, 2, 1}));
  const auto refusal = [&](std::string_view value) { return refusal_of([&] { (void)spec(value); }); };
  CHECK_EQ(refusal("rong").what, "unknown algorithm 'rong' for allreduce");
  CHECK_EQ(refusal("rong").hint, names_for(Collective::allreduce));
  CHECK_EQ(refusal("").what, "unknown algorithm '' for allreduce");
  CHECK_EQ(refusal("bruck,depth=2").what, "unknown algorithm 'bruck' for allreduce");
  CHECK(refusal("circulant,skips=2:2").what.starts_with("'circulant skips=2:2' can serve no number of ranks: skip 2 "));
  for (const std::string word : {"depth=0", "size=4", "", "segment", "segment=x"}) {
    CHECK_EQ(refusal("ring,segment=1K," + word).what, "wrong parameter '" + word + "' of 'ring'");
    CHECK_EQ(
        refusal("ring,segment=1K," + word).hint,
        "the parameters are segment=SIZE, depth=1…64, copy=staged|kernel|measured, as in ring,segment=64K,depth=4");
  }
}

}  // namespace
}  // namespace stretto::rules_test

// SPDX-License-Identifier: BSD-3-Clause
//
// Which algorithm serves a call: the first rule that fits decides.
#include <utility>

#include "select/choice_table.hpp"
#include "stretto/rules.hpp"
#include "support/test.hpp"

namespace stretto::choice_test {
namespace {

const std::string head = "stretto-rules 1\n";

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
  CHECK_EQ(choice.line, 3);
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

TEST(conditions_on_nodes) {
  const Rules rules = parse_rules(head +
                                      "allreduce nodes=1 -> linear\n"
                                      "allreduce per-node=1 -> ring\n"
                                      "allreduce nodes=even ranks>8 -> circulant\n"
                                      "allreduce per-node>=4 nodes>1 -> slices\n"
                                      "allreduce per-node<4 -> elimination\n",
                                  "f");
  const auto chosen = [&](Rank ranks, Rank per_node) {
    const bool even = ranks % per_node == 0;
    const Call call{
        .function = Function::allreduce, .shape = {ranks, 0}, .bytes = 8, .per_node = per_node, .even_nodes = even};
    return choose(rules, call).algorithm->name();
  };
  CHECK_EQ(chosen(8, 8), "linear");
  CHECK_EQ(chosen(8, 1), "ring");
  CHECK_EQ(chosen(8, 3), "elimination");
  CHECK_EQ(chosen(8, 5), "slices");
  CHECK_EQ(chosen(12, 4), "circulant");
  CHECK_EQ(chosen(12, 5), "slices");
  CHECK_EQ(chosen(1, 1), "ring");  // a rank alone shares nothing
}

TEST(conditions_on_cores) {
  const Rules rules = parse_rules(head +
                                      "allreduce cores=shared ranks>4 -> linear\n"
                                      "allreduce cores=own -> ring\n"
                                      "allreduce ranks<=4 -> slices\n",
                                  "f");
  const auto chosen = [&](Rank ranks, bool shared) {
    return choose(rules, {.function = Function::allreduce, .shape = {ranks, 0}, .oversubscribed = shared})
        .algorithm->name();
  };
  CHECK_EQ(chosen(8, true), "linear");
  CHECK_EQ(chosen(8, false), "ring");
  CHECK_EQ(chosen(4, true), "slices");
  CHECK_EQ(chosen(4, false), "ring");
}

TEST(rules_that_copy_by_the_kernel_hold_where_it_may) {
  const Rules rules = parse_rules("stretto-rules 1\nbcast bytes>=1K -> linear copy=kernel\nbcast -> binomial\n", "f");
  const auto chosen = [&](KernelCopy kernel_copy) {
    return choose({}, rules, {.function = Function::bcast, .shape = {2, 0}, .bytes = 4096, .kernel_copy = kernel_copy});
  };
  CHECK_EQ(chosen(KernelCopy::permitted).reason, "f:2");
  CHECK_EQ(chosen(KernelCopy::refused).reason, "f:3; not linear (line 2): the kernel may not copy between these ranks");
}

TEST(rules_may_ask_for_a_kernel_that_copies_fast) {
  const Rules rules = parse_rules(head + "bcast kernel=fast -> linear copy=kernel\nbcast -> binomial\n", "f");
  const auto chosen = [&](KernelCopy kernel_copy) {
    return choose(rules, {.function = Function::bcast, .shape = {2, 0}, .kernel_copy = kernel_copy}).algorithm->name();
  };
  CHECK_EQ(chosen(KernelCopy::fast), "linear");
  CHECK_EQ(chosen(KernelCopy::permitted), "binomial");
  CHECK_EQ(chosen(KernelCopy::refused), "binomial");
}

TEST(overrides_stand_above_the_rules) {
  const Rules rules = parse_rules(head + "allreduce -> ring\nallreduce -> recursive_doubling\n", "f");
  const Override first{parse_algorithm_spec(Function::allreduce, "circulant,segment=4K"), "A"};
  const Override second{parse_algorithm_spec(Function::allreduce, "linear"), "B"};
  const Override none{parse_algorithm_spec(Function::allreduce, "native"), "C"};
  Call call{.function = Function::allreduce, .shape = {5, 0}, .bytes = 8};
  const auto reason = [&](std::vector<const Override*> overrides) {
    const Choice choice = choose(overrides, rules, call);
    return written(choice.algorithm, choice.params) + " (" + choice.reason + ')';
  };
  CHECK_EQ(reason({nullptr, nullptr}), "ring (f:2)");
  CHECK_EQ(reason({&first, &second}), "circulant segment=4K depth=2 (A)");
  CHECK_EQ(reason({nullptr, &second}), "linear (B)");
  CHECK_EQ(reason({&none, &first}), "native (C)");
  call.commutative = false;
  CHECK_EQ(reason({&first, &second}), "linear (B; not A: the operator does not commute)");
  CHECK_EQ(reason({&first, nullptr}),
           "recursive_doubling (f:3; not ring (line 2): the operator does not commute; not A: the operator does not "
           "commute)");
}

TEST(choices_as_they_stand_in_rules) {
  for (const std::string words :
       {"ring", "ring segment=1000 depth=2", "ring segment=64K depth=7", "ring segment=3M depth=1",
        "ring segment=2G depth=64", "circulant skips=4:2:1", "recursive_multiplying radix=5", "native",
        "recursive_multiplying segment=1K depth=3 radices=4:6"}) {
    const Rule rule = parse_rules(head + "allreduce -> " + words + '\n', "f").rules.at(0);
    CHECK_EQ(written(rule.algorithm, rule.params), words);
  }
}

/// A record for tests of the choice, which builds nothing.
Algorithm record(std::string_view id, Collective collective, const Needs& needs) {
  return {.id = id,
          .summary = {},
          .source = {},
          .volume = {},
          .collective = collective,
          .needs = needs,
          .blocks = nullptr,
          .rounds = nullptr,
          .sent = nullptr,
          .combined = nullptr,
          .build = nullptr};
}

TEST(what_algorithms_need) {
  const Algorithm plain = record("allreduce/plain", Collective::allreduce, {});
  Algorithm even = record("allreduce/even", Collective::allreduce, {.ranks = RanksNeeded::even});
  const Algorithm power = record("allreduce/power", Collective::allreduce, {.ranks = RanksNeeded::power_of_two});
  CHECK_EQ(unsuitable(plain, {7, 0}), "");
  CHECK_EQ(unsuitable(plain, {7, 0}, {.value = 2, .list = {}}), "it takes no parameter of its own");
  CHECK_EQ(unsuitable(plain, {7, 0}, {.list = {1, 2}}), "it takes no list");
  CHECK_EQ(unsuitable(plain, Function::reduce, {7, 0}, true, {}), "it is no reduce");
  for (const Rank ranks : {1, 3, 7})
    CHECK_EQ(unsuitable(even, {ranks, 0}), std::to_string(ranks) + " ranks are not an even number");
  for (const Rank ranks : {2, 6, 100}) CHECK_EQ(unsuitable(even, {ranks, 0}), "");
  for (const Rank ranks : {3, 6, 100})
    CHECK_EQ(unsuitable(power, {ranks, 0}), std::to_string(ranks) + " ranks are not a power of two");
  for (const Rank ranks : {1, 2, 64}) CHECK_EQ(unsuitable(power, {ranks, 0}), "");

  even.parameter = {
      .name = "width", .least = 3, .default_value = [](const Shape& s) -> std::int64_t { return s.ranks; }};
  even.list = "order";
  even.misfit = [](const Shape& s, const Params& p) {
    return p.value > s.ranks ? std::string("too wide") : p.list.size() > 2 ? std::string("too long") : std::string();
  };
  CHECK_EQ(resolved(even, {6, 0}, {}).value, 6);
  CHECK_EQ(resolved(even, {6, 0}, {.value = 4, .list = {}}).value, 4);
  CHECK_EQ(unsuitable(even, {6, 0}), "");
  CHECK_EQ(unsuitable(even, {2, 0}), "width must be at least 3");
  CHECK_EQ(unsuitable(even, {6, 0}, {.value = 7, .list = {}}), "too wide");
  CHECK_EQ(unsuitable(even, {6, 0}, {.list = {1, 2, 3}}), "too long");
  CHECK_EQ(unsuitable(even, {5, 0}, {.value = 7, .list = {}}), "5 ranks are not an even number");
}

TEST(reasons_of_what_is_passed_over) {
  const Algorithm even = record("allgather/even", Collective::allgather, {.ranks = RanksNeeded::even});
  const Algorithm uneven = record("allgather/uneven", Collective::allgather, {.irregular = true});
  Algorithm narrow = record("allgather/narrow", Collective::allgather, {.commutative = true});
  narrow.misfit = [](const Shape&, const Params&) { return std::string("it is too narrow"); };
  Rules rules{.file = "f", .machine = {}, .rules = {}};
  const auto add = [&](Function function, const Algorithm* algorithm) {
    Rule& rule = rules.rules.emplace_back(
        Rule{.function = function, .bytes = {}, .part = {}, .ranks = {}, .per_node = {}, .params = {}});
    rule.algorithm = algorithm;
    rule.line = static_cast<int>(rules.rules.size());
  };
  for (const Algorithm* a : {&std::as_const(narrow), &uneven, &even}) add(Function::allgather, a);
  for (const Algorithm* a : {&std::as_const(narrow), &uneven}) add(Function::allgatherv, a);
  // Operators are no affair of an allgather.
  const Call call{.function = Function::allgather, .shape = {6, 0}, .commutative = false};
  CHECK_EQ(choose(rules, call).algorithm, &even);
  CHECK_EQ(choose(rules, call).reason,
           "f:3; not narrow (line 1): it is too narrow; not uneven (line 2): the parts of all ranks are equally large");
  CHECK_EQ(choose(rules, {.function = Function::allgather, .shape = {7, 0}}).reason,
           "no rule of f fits; not narrow (line 1): it is too narrow; not uneven (line 2): the parts of all ranks are "
           "equally large; not even (line 3): 7 ranks are not an even number");
  CHECK_EQ(choose(rules, {.function = Function::allgatherv, .shape = {7, 0}}).algorithm, &uneven);
  CHECK_EQ(choose(rules, {.function = Function::allgatherv, .shape = {7, 0}}).reason,
           "f:5; not narrow (line 4): it is too narrow");
}

constexpr Bytes K = 1024;

TEST(binary_blocks_are_balanced_where_the_paper_says) {
  CHECK(!blocks_balanced(33, 32 * K) && blocks_balanced(33, 32 * K + 1));  // 2^5 + 2^0: the paper's example
  CHECK(!blocks_balanced(100, 2 * K) && blocks_balanced(100, 2 * K + 1));  // 2^6 + 2^5 + 2^2: at most 3 apart
  CHECK(!blocks_balanced(64, 32) && blocks_balanced(64, 33));              // one block
  CHECK(!blocks_balanced(96, 0));
}

TEST(shipped_rules_serve_every_call) {
  std::size_t calls = 0;
  for (const Function function : all_functions)
    for (const Rank ranks : {1, 2, 3, 5, 8, 9, 16, 17, 33, 64, 100, 1024, 1000000})
      for (const Bytes bytes : {0, 8, 2048, 12289, 81920, 1 << 20, 1 << 30})
        for (const bool commutative : {true, false})
          for (const Rank per_node : {1, 2, ranks})
            for (const bool shared : {false, true}) {
              const Call call{.function = function,
                              .shape = {ranks, ranks - 1},
                              .bytes = bytes,
                              .commutative = commutative,
                              .predefined = commutative,
                              .per_node = per_node,
                              .oversubscribed = shared};
              const Choice choice = choose(shipped_rules(), call);
              CHECK(choice.reason.starts_with("shipped rules:"));
              ++calls;
              if (!choice.algorithm) {  // the native function, for few nodes
                CHECK(ranks > 1 && ranks <= 32 && !call.one_node());
                continue;
              }
              CHECK_EQ(unsuitable(*choice.algorithm, function, call.shape, commutative, choice.params), "");
            }
  CHECK(calls > 10000);
}

TEST(sizes_in_a_range_are_chosen_alike) {
  const Rules odd = parse_rules(head +
                                    "allgather part<100 ranks>2 -> bruck\n"
                                    "allgather part=7000 -> linear\n"
                                    "allgather bytes>=9000 bytes<=9001 -> ring\n"
                                    "allgather ranks=balanced -> sparbit\n"
                                    "allgather part<4611686018427387904 -> ring\n",
                                "f");
  for (const Rules* rules : {&shipped_rules(), &odd})
    for (const Function function : {Function::allreduce, Function::allgather, Function::bcast, Function::barrier})
      for (const Rank ranks : {1, 3, 8, 33, 100})
        for (const bool commutative : {true, false}) {
          Call call{.function = function, .shape = {ranks, 0}, .commutative = commutative};
          int ranges = 0;
          // From range to range, until the last one.
          for (;; ++ranges) {
            const Between alike = chosen_alike(*rules, call);
            CHECK(alike.holds(call.bytes));
            const std::string chosen = choose(*rules, call).reason;
            Call other = call;
            for (const Bytes bytes : {alike.low, alike.low + (std::min(alike.high, Bytes{1} << 40) - alike.low) / 2,
                                      std::min(alike.high, Bytes{1} << 40)}) {
              other.bytes = std::max(bytes, alike.low);
              CHECK_EQ(choose(*rules, other).reason, chosen);
            }
            if (alike.high >= Bytes{1} << 40) break;
            call.bytes = alike.high + 1;
          }
          CHECK(ranges < 40);
        }
}

TEST(ranks_of_few_nodes_agree_on_no_size) {
  const auto matter = [](Function function, Rank ranks, Rank per_node) {
    const Call call{.function = function, .shape = {ranks, 0, {}}, .per_node = per_node};
    return other_sizes({}, shipped_rules(), call).differ;
  };
  for (const Function f : {Function::gatherv, Function::scatterv, Function::alltoallv, Function::alltoallw})
    CHECK(!matter(f, 2, 1) && !matter(f, 32, 1));
  CHECK(!matter(Function::gatherv, 32, 16) && matter(Function::gatherv, 64, 16));
}

TEST(where_bytes_matter) {
  const Rules rules = parse_rules(head +
                                      "alltoallv ranks=3 bytes<100 -> linear\n"
                                      "alltoallv ranks=5 nodes>1 part<100 -> linear\n"
                                      "alltoallv ranks>=6 ranks<9 bytes<100 -> pairwise_xor\n"
                                      "alltoallv ranks<8 -> pairwise\n"
                                      "alltoallv ranks=balanced -> bruck\n",
                                  "f");
  const Override able{parse_algorithm_spec(Function::alltoallv, "linear"), "able"};
  const Override unable{parse_algorithm_spec(Function::alltoallv, "pairwise_xor"), "unable"};
  const auto matter = [&](Rank ranks, Rank per_node, const Override* one = nullptr) {
    const Override* overrides[] = {nullptr, one};
    return other_sizes(overrides, rules,
                       {.function = Function::alltoallv, .shape = {ranks, 0, {}}, .per_node = per_node})
        .differ;
  };
  CHECK(matter(3, 3));
  CHECK(!matter(4, 4));
  CHECK(matter(5, 1));
  CHECK(!matter(5, 5));
  CHECK(!matter(6, 1));  // pairwise_xor cannot serve
  CHECK(matter(9, 1));
  CHECK(!matter(9, 1, &able));
  CHECK(matter(9, 1, &unable));
  CHECK(!other_sizes({}, rules, {.function = Function::gatherv, .shape = {3, 0, {}}}).differ);
}

TEST(where_bytes_lead_to_the_native_function) {
  const Rules rules = parse_rules(head +
                                      "alltoallv ranks=3 bytes<100 -> native\n"
                                      "alltoallv ranks=4 bytes<100 -> linear\n"
                                      "alltoallv ranks=5 bytes<100 -> linear\n"
                                      "alltoallv ranks=5 bytes<1K -> native\n"
                                      "alltoallv ranks=6 -> native\n"
                                      "alltoallv ranks=7 bytes<100 -> linear\n"
                                      "alltoallv ranks<7 -> pairwise\n",
                                  "f");
  const auto native = [&](Rank ranks) {
    const OtherSizes others = other_sizes({}, rules, {.function = Function::alltoallv, .shape = {ranks, 0, {}}});
    CHECK(others.differ || !others.native);
    return others.native;
  };
  CHECK(!native(2));
  CHECK(native(3));
  CHECK(!native(4));
  CHECK(native(5));   // behind another
  CHECK(!native(6));  // whatever its bytes
  CHECK(native(7));   // no rule fits
  for (const Function f : {Function::gatherv, Function::scatterv, Function::alltoallv, Function::alltoallw})
    for (Rank ranks = 2; ranks <= 70; ++ranks)
      CHECK(!other_sizes({}, shipped_rules(), {.function = f, .shape = {ranks, 0, {}}, .per_node = ranks}).native);
}

TEST(table_of_choices) {
  ChoiceTable<int> table;
  const Between ranges[] = {{0, 99}, {100, 127}, {128, 5000}, {5001, INT64_MAX}};
  const auto call_of = [](Function function, Rank root, Bytes bytes) {
    return Call{.function = function, .shape = {8, root, {}}, .bytes = bytes};
  };
  CHECK(table.find(call_of(Function::bcast, 0, 7)) == nullptr);
  const auto number = [](Function function, Rank root, std::size_t range) {
    return static_cast<int>(function) * 1000 + root * 10 + static_cast<int>(range);
  };
  const int* first = nullptr;
  std::size_t added = 0;
  for (int again = 0; again < 2; ++again)
    for (const Function function : all_functions)
      for (Rank root = 0; root < 20; ++root)
        for (std::size_t r = 0; r < std::size(ranges); ++r)
          for (const Bytes bytes : {ranges[r].low, ranges[r].low + 20, std::min(ranges[r].high, Bytes{1} << 40)}) {
            const Call call = call_of(function, root, bytes);
            const int* found = table.find(call);
            CHECK(again == 0 || found);  // sizes with other numbers of bits are added once more
            if (!found) {
              found = &table.add(call, ranges[r], number(function, root, r));
              ++added;
            }
            if (!first) first = found;
            CHECK_EQ(*found, number(function, root, r));
            Call other = call;
            other.predefined = false;
            CHECK(table.find(other) == nullptr);
          }
  CHECK_EQ(table.size(), added);
  CHECK_EQ(table.find(call_of(Function::barrier, 0, 0)), first);  // where it was
  table.clear();
  CHECK_EQ(table.size(), 0);
  CHECK(table.find(call_of(Function::barrier, 0, 0)) == nullptr);
}

}  // namespace
}  // namespace stretto::choice_test

// SPDX-License-Identifier: BSD-3-Clause
//
// The table that the build makes of rules/default.rules.
#include "select/shipped.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "stretto/sources.hpp"
#include "support/test.hpp"

namespace stretto::shipped_test {
namespace {

TEST(table_is_what_the_text_says) {
  const Rules parsed = parse_rules(shipped_rules_text, shipped_name);
  const Rules& shipped = shipped_rules();
  CHECK_EQ(shipped.file, parsed.file);
  CHECK_EQ(shipped.machine, "");
  CHECK_EQ(shipped.machine_line, 0);
  CHECK(shipped.rules.empty());  // a process has no copy of its own
  const auto table = shipped.compiled->rules;
  CHECK_EQ(table.size(), parsed.rules.size());
  CHECK(table.size() > 1000);
  for (std::size_t i = 0; i < std::min(table.size(), parsed.rules.size()); ++i) {
    const Rule rule = rule_of(*shipped.compiled, table[i], 0);
    if (!(rule == parsed.rules[i])) CHECK_EQ(rule.line, -parsed.rules[i].line);
  }
}

TEST(each_rule_gives_those_whose_other_conditions_hold) {
  const Rules parsed = parse_rules(shipped_rules_text, shipped_name);
  constexpr std::uint16_t all = 0xffff;
  for (const Function f : all_functions)
    for (const Rank ranks : {1, 2, 5, 8, 64})
      for (const std::uint16_t held : {all, std::uint16_t{0}}) {
        const Call call{.function = f, .shape = {ranks}, .per_node = std::min(ranks, 4)};
        std::vector<Rule> expected, found;
        std::ranges::copy_if(parsed.rules, std::back_inserter(expected), [&](const Rule& r) {
          return r.function == f && (r.conditions & ~held) == 0 && r.ranks.holds(ranks) &&
                 r.per_node.holds(call.per_node) && r.to_node.holds(call.to_node);
        });
        each_rule(shipped_rules(), call, held, [&](const Rule& rule) {
          found.push_back(rule);
          return false;
        });
        CHECK(found == expected);
      }
}

TEST(text_is_that_of_the_file) {
  std::ifstream in(STRETTO_SOURCE_DIR "/rules/default.rules", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(text == shipped_rules_text);
  CHECK_EQ(find_rules({std::string(shipped_word)}, nullptr).text, "");
}

TEST(two_neighbours_copy_by_the_kernel_where_it_may) {
  for (const Function f : all_functions) {
    if (!facts(facts(f).collective).neighbourhood) continue;
    Call call{.function = f, .shape = {2}, .bytes = 2 << 20, .per_node = 2, .kernel_copy = KernelCopy::permitted};
    CHECK(choose(shipped_rules(), call).params.copy == Copy::measured);
    call.kernel_copy = KernelCopy::refused;
    CHECK(choose(shipped_rules(), call).params.copy == Copy::staged);
  }
}

// What ten copies say when processes meet must not decide for functions that only copy what caches may hold.
TEST(two_ranks_copy_as_measured_whether_the_kernel_seemed_fast_or_not) {
  const Function functions[] = {Function::bcast,      Function::gather,   Function::scatter, Function::allgather,
                                Function::allgatherv, Function::alltoall, Function::exscan};
  for (const Function f : functions) {
    for (const Bytes bytes : {256 << 10, 512 << 10, 2 << 20, 8 << 20}) {  // parts of 128 KiB to 4 MiB
      Call call{.function = f, .shape = {2}, .bytes = bytes, .per_node = 2};
      for (const KernelCopy kernel_copy : {KernelCopy::permitted, KernelCopy::fast}) {
        call.kernel_copy = kernel_copy;
        CHECK(choose(shipped_rules(), call).params.copy == Copy::measured);
      }
      call.kernel_copy = KernelCopy::refused;
      CHECK(choose(shipped_rules(), call).params.copy == Copy::staged);
    }
  }
}

TEST(digests) {
  // Of FNV-1a, as its authors give them.
  CHECK_EQ(digest_of_rules(""), 0xcbf29ce484222325u);
  CHECK_EQ(digest_of_rules("a"), 0xaf63dc4c8601ec8cu);
  CHECK_EQ(digest_of_rules("foobar"), 0x85944171f73967e8u);
  CHECK_EQ(shipped_digest, digest_of_rules(shipped_rules_text));
  CHECK(shipped_digest != digest_of_rules(std::string(shipped_rules_text) + "\n"));
}

}  // namespace
}  // namespace stretto::shipped_test

// SPDX-License-Identifier: BSD-3-Clause
//
// The table that the build makes of rules/default.rules.
#include "select/shipped.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

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
  CHECK_EQ(shipped.rules.size(), parsed.rules.size());
  CHECK(shipped.rules.size() > 1000);
  for (std::size_t i = 0; i < std::min(shipped.rules.size(), parsed.rules.size()); ++i)
    if (!(shipped.rules[i] == parsed.rules[i])) CHECK_EQ(shipped.rules[i].line, -parsed.rules[i].line);
}

TEST(text_is_that_of_the_file) {
  std::ifstream in(STRETTO_SOURCE_DIR "/rules/default.rules", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(text == shipped_rules_text);
  CHECK_EQ(find_rules({std::string(shipped_word)}, nullptr).text.size(), text.size());
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

// SPDX-License-Identifier: BSD-3-Clause
//
// When ranks that do not know the sizes of a call tell each other, and what they choose by between.
#include "communicator/size_hint.hpp"

#include <vector>

#include "support/test.hpp"

namespace stretto::mpi::size_hint_test {
namespace {

/// One of `calls` calls of two ranks, one of which has nothing: what each was chosen by; negative if they told it then.
std::vector<Bytes> chosen_by(const std::vector<Bytes>& calls) {
  SizeHint mine, empty;
  std::vector<Bytes> found;
  for (const Bytes bytes : calls) {
    const bool due = mine.due();
    CHECK_EQ(empty.due(), due);
    mine.note(bytes);
    empty.note(0);
    if (due) {
      const Bytes largest = std::max(mine.largest(), empty.largest());
      mine.agree(largest);
      empty.agree(largest);
    }
    CHECK_EQ(mine.agreed(), empty.agreed());
    found.push_back(due ? -mine.agreed() : mine.agreed());
  }
  return found;
}

void check_told(Bytes bytes, std::initializer_list<std::size_t> calls) {
  std::vector<Bytes> expected(150, bytes);
  for (const std::size_t told : calls) expected[told] = -bytes;
  CHECK(chosen_by(std::vector<Bytes>(150, bytes)) == expected);
}

TEST(sizes_are_told_now_and_then) {
  check_told(8, {0, 16, 80, 144});  // seldom, if they stay as they are
  check_told(4096, {0, 16, 80, 144});
  check_told(8192, {0, 16, 32, 48, 64, 80, 96, 112, 128, 144});
}

TEST(the_largest_of_late_counts) {
  std::vector<Bytes> calls(33, 100);
  calls[3] = 5000;
  const std::vector<Bytes> found = chosen_by(calls);
  CHECK_EQ(found[15], 100);
  CHECK_EQ(found[16], -5000);
  CHECK_EQ(found[31], 5000);
  CHECK_EQ(found[32], -100);
}

TEST(an_empty_first_call_says_little) {
  std::vector<Bytes> calls(17, 100);
  calls[0] = 0;
  CHECK_EQ(chosen_by(calls)[16], -100);
}

TEST(large_calls_are_told_each_time) {
  const Bytes mega = Bytes{1} << 20;
  CHECK(chosen_by({mega, 3 * mega, 8, 8, 8}) == (std::vector<Bytes>{-mega, -3 * mega, -8, 8, 8}));
  CHECK(chosen_by({mega / 4, 8, 8, 8, 9, 9}) == (std::vector<Bytes>{-mega / 4, mega / 4, mega / 4, mega / 4, -9, 9}));
}

}  // namespace
}  // namespace stretto::mpi::size_hint_test

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

TEST(sizes_are_told_now_and_then) {
  std::vector<Bytes> small(34, 8);
  std::vector<Bytes> expected(34, 8);
  for (const std::size_t told : {0, 16, 32}) expected[told] = -8;
  CHECK(chosen_by(small) == expected);
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

TEST(large_calls_are_told_each_time) {
  const Bytes mega = Bytes{1} << 20;
  CHECK(chosen_by({mega, 3 * mega, 8, 8, 8}) == (std::vector<Bytes>{-mega, -3 * mega, -8, 8, 8}));
  CHECK(chosen_by({mega / 4, 8, 8, 8, 9, 9}) == (std::vector<Bytes>{-mega / 4, mega / 4, mega / 4, mega / 4, -9, 9}));
}

}  // namespace
}  // namespace stretto::mpi::size_hint_test

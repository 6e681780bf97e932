// SPDX-License-Identifier: BSD-3-Clause
//
// Which of two ways to copy is taken, by what copies have taken before.
#include <algorithm>
#include <set>
#include <vector>

#include "support/test.hpp"
#include "transport/shm/access_selector.hpp"
#include "transport/shm/copy_selector.hpp"

namespace stretto::transport::shm::selectors_test {
namespace {

constexpr Bytes long_message = 256 << 10;

TEST(averages_fall_sooner_than_they_rise) {
  CHECK_EQ(updated(0, 3), 3);
  CHECK(updated(4, 1) < 2 && updated(4, 1) > 1);
  CHECK(updated(4, 8) > 4 && updated(4, 8) < 5);
  CHECK_EQ(updated(4, 1e9f), updated(4, 16));
}

TEST(probes_become_rare) {
  Probes<61> probes;
  std::vector<std::uint32_t> due;
  int second = 0;
  for (int turn = 1; turn <= 8; ++turn) second += probes.second(true) ? 1 : 0;
  CHECK_EQ(second, 4);
  for (int turn = 9; turn <= 1000; ++turn) {
    const bool is_second = probes.second(true);
    CHECK_EQ(is_second, !probes.probes());
    if (probes.probes()) due.push_back(probes.turn());
  }
  CHECK_EQ(due.front(), 12u);
  for (std::size_t i = 1; i < due.size(); ++i) CHECK(due[i] - due[i - 1] <= 61);
  CHECK_EQ(due[due.size() - 1] - due[due.size() - 2], 61u);
}

TEST(a_probe_keeps_to_its_way) {
  Probes<61, 2> probes;
  for (int turn = 1; turn < 12; ++turn) probes.second(true);
  CHECK(!probes.second(true) && probes.probes());
  CHECK(!probes.second(false) && probes.probes());  // though that way has become the better one
  CHECK(!probes.second(false) && !probes.probes());
  CHECK(probes.second(true) && !probes.probes());
}

/// Messages of one size whose two ways take what is said here.
struct Messages {
  CopySelector selector = {};
  TakingCosts taking = {};
  float pack = 1, unpack = 1, lent = 1;
  bool one_way = false;
  bool at_once = false;  ///< one way, each begins when the one before has been taken, if that was lent

  int lent_of(int messages, Bytes bytes = long_message) {
    int count = 0;
    bool ahead = false;
    for (int i = 0; i < messages; ++i) {
      const bool lends = selector.lends(bytes, one_way, taking);
      if (!lends && !one_way) selector.packed(bytes, pack);
      const float waited = one_way && !ahead ? pack : 0;
      ahead = at_once && !lends;
      (lends ? taking.lent : taking.staged).note(bytes, lends ? lent : waited + unpack);
      count += lends ? 1 : 0;
    }
    return count;
  }
};

TEST(the_faster_copy_is_taken) {
  Messages staged{.lent = 3};
  CHECK_EQ(staged.lent_of(8), 4);
  CHECK(staged.lent_of(1000) < 40);
  Messages kernel{.lent = 1.5};
  CHECK_EQ(kernel.lent_of(8), 4);
  CHECK(kernel.lent_of(1000) > 960);
}

TEST(a_sender_may_be_ahead_of_its_receiver) {
  Messages one_by_one{.lent = 1.5, .one_way = true};
  one_by_one.lent_of(100);
  CHECK(one_by_one.lent_of(1000) > 960);
  Messages at_once{.lent = 1.5, .one_way = true, .at_once = true};
  at_once.lent_of(100);
  CHECK(at_once.lent_of(1000) < 40);
}

TEST(a_choice_changes_with_the_machine) {
  Messages messages{.lent = 3};
  messages.lent_of(1000);
  messages.pack = messages.unpack = 4;
  CHECK(messages.lent_of(1000) > 500);
  CHECK(messages.lent_of(1000) > 960);
}

TEST(each_size_is_timed_alone) {
  Messages messages{.lent = 3};
  messages.lent_of(100);
  messages.lent = 0.5;
  CHECK_EQ(messages.lent_of(8, 4 * long_message), 4);
  CHECK(messages.lent_of(100, 4 * long_message) > 80);
  std::set<std::size_t> classes;
  for (Bytes bytes = 12 << 10; bytes <= Bytes{1} << 40; bytes *= 2) classes.insert(size_class(bytes));
  CHECK_EQ(classes.size(), size_classes);
  CHECK_EQ(*classes.rbegin(), size_classes - 1);
}

TEST(messages_may_alternate) {
  CopySelector selector;
  TakingCosts taking;
  int lent = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool slow = i % 2 == 0;  // whatever way it goes
    const bool lends = selector.lends(long_message, false, taking);
    if (!lends) selector.packed(long_message, 1);
    (lends ? taking.lent : taking.staged).note(long_message, (slow ? 4.0f : 0) + (lends ? 3.0f : 1.0f));
    lent += lends ? 1 : 0;
  }
  CHECK(lent < 300);
}

TEST(an_interrupt_is_no_measurement) {
  Messages messages{.lent = 3};
  messages.lent_of(100);
  messages.taking.staged.note(long_message, 1e6f);
  CHECK(messages.lent_of(64) < 6);
}

void wait_for_microseconds(int n) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(n);
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// How many of so many accesses go the second way, where each way takes so many microseconds.
template <typename Selector>
int second_of(Selector& selector, int accesses, Bytes bytes, bool new_pages, int first_us, int second_us) {
  int count = 0;
  for (int i = 0; i < accesses; ++i)
    selector.run(bytes, new_pages, [&](bool second) {
      count += second ? 1 : 0;
      wait_for_microseconds(second ? second_us : first_us);
    });
  return count;
}

TEST(the_faster_store_is_taken) {
  StoreSelector ordinary, non_temporal;
  CHECK(second_of(ordinary, 500, 4096, false, 0, 20) < 30);
  CHECK(second_of(non_temporal, 500, 4096, false, 20, 0) > 450);
  // A little is not enough: the reader has to fetch the data from memory. Three tries: other programs take time too.
  int least = 500;
  for (int i = 0; i < 3; ++i) {
    StoreSelector doubtful;
    least = std::min(least, second_of(doubtful, 500, 4096, false, 20, 18));
  }
  CHECK(least < 30);
}

TEST(stores_into_new_pages_are_not_timed) {
  StoreSelector selector;
  CHECK_EQ(second_of(selector, 100, 4096, true, 20, 0), 0);
  CHECK(second_of(selector, 500, 4096, false, 0, 20) < 30);
}

constexpr Bytes of_64k = 64 << 10;

/// Whether the last of so many messages went around, where a write takes so many microseconds in each way.
bool goes_around(Stores& stores, int messages, int again_us, int non_temporal_us, int around_us) {
  bool around = false;
  for (int i = 0; i < messages; ++i) {
    around = stores.goes_around(of_64k, of_64k);
    stores.run(of_64k, false, around, [&](bool non_temporal) {
      wait_for_microseconds(around ? around_us : non_temporal ? non_temporal_us : again_us);
    });
  }
  return around;
}

TEST(messages_go_around_where_readers_keep_lines) {
  Stores near, far, in_vain;
  CHECK(!goes_around(near, 400, 20, 20, 0));
  CHECK(goes_around(far, 400, 100, 20, 20));
  CHECK(!goes_around(in_vain, 400, 100, 20, 100));
  CHECK(!far.goes_around(4 << 10, 4 << 10) && !far.goes_around(1 << 20, 1 << 20));
  for (int gib = 0; gib < 3; ++gib)
    for (Bytes passed = 0; passed < Bytes{1} << 30; passed += of_64k) in_vain.run(of_64k, true, false, [](bool) {});
  CHECK(goes_around(in_vain, 400, 100, 20, 20));  // another try
}

TEST(long_fragments_are_read_by_memcpy_unless_that_is_much_slower) {
  LoadSelector is_near, is_far, is_short;
  CHECK(second_of(is_near, 500, 64 << 10, false, 20, 20) > 300);
  CHECK(second_of(is_far, 500, 64 << 10, false, 20, 40) < 30);
  CHECK_EQ(second_of(is_short, 500, 8 << 10, false, 20, 0), 0);
}

}  // namespace
}  // namespace stretto::transport::shm::selectors_test

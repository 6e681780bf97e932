// SPDX-License-Identifier: BSD-3-Clause
//
// Which of two ways to copy is taken, by what copies have taken before.
#include <algorithm>
#include <set>
#include <vector>

#include "support/test.hpp"
#include "transport/shm/access_selectors.hpp"
#include "transport/shm/connection.hpp"

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

/// How many of so many fragments are written by non-temporal stores, where each way takes so many microseconds.
int non_temporal_of(StoreSelector& stores, int fragments, Bytes bytes, bool new_pages, int ordinary_us,
                    int non_temporal_us, const ReadingCosts* told = nullptr) {
  int count = 0;
  for (int i = 0; i < fragments; ++i)
    stores.run(bytes, new_pages, false, told, [&](const Storing& storing) {
      count += storing.non_temporal ? 1 : 0;
      wait_for_microseconds(storing.non_temporal ? non_temporal_us : ordinary_us);
    });
  return count;
}

TEST(the_faster_store_is_taken) {
  StoreSelector ordinary, non_temporal;
  CHECK(non_temporal_of(ordinary, 500, 4096, false, 0, 20) < 30);
  CHECK(non_temporal_of(non_temporal, 500, 4096, false, 20, 0) > 450);
  // A little is not enough: the reader has to fetch the data from memory. Three tries: other programs take time too.
  int least = 500;
  for (int i = 0; i < 3; ++i) {
    StoreSelector doubtful;
    least = std::min(least, non_temporal_of(doubtful, 500, 4096, false, 20, 18));
  }
  CHECK(least < 30);
}

TEST(what_reading_takes_counts) {
  constexpr float microsecond = 1e-6f / 4096;  // for a byte of a fragment
  ReadingCosts told;
  told.note(Stored::ordinary, 4096, 10 * microsecond);
  told.note(Stored::non_temporal, 4096, 100 * microsecond);
  StoreSelector slow_to_read, fast_to_read;
  CHECK(non_temporal_of(slow_to_read, 500, 4096, false, 50, 10, &told) < 30);
  told.clear();
  told.note(Stored::ordinary, 4096, 10 * microsecond);
  told.note(Stored::non_temporal, 4096, 20 * microsecond);
  CHECK(non_temporal_of(fast_to_read, 500, 4096, false, 50, 10, &told) > 450);
  CHECK_EQ(told.of(Stored::around, 4096), 0);
  CHECK_EQ(told.of(Stored::ordinary, 8192), 0);  // another size
}

TEST(only_fragments_that_their_writer_times_are_timed_by_readers) {
  const ReadingCosts told;
  StoreSelector stores;
  int timed = 0, typical = 0;
  for (int i = 0; i < 1000; ++i) {
    const Storing storing = stores.run(4096, false, false, &told, [](const Storing&) {});
    timed += storing.timed == Stored::not_timed ? 0 : 1;
    typical += storing.typical ? 1 : 0;
  }
  CHECK(timed > 20 && timed < 100);
  CHECK(typical > 900 && typical < 1000);
  for (const Storing& storing : {stores.run(512, false, false, &told, [](const Storing&) {}),
                                 stores.run(4096, true, false, &told, [](const Storing&) {})})
    CHECK(storing.timed == Stored::not_timed);
}

TEST(a_receiver_tells_what_reading_took_if_it_is_asked) {
  alignas(cache_line) std::byte lines[bytes_of_channels({})]{};
  const std::byte segment[4096]{};
  const Channel channel = channel_at(reinterpret_cast<Slot*>(lines), 0, {});
  Outbox out;
  Inbox in;
  out.open(channel, 0);
  in.open(channel, segment, 0, 0);
  for (const Stored way : {Stored::not_timed, Stored::non_temporal}) {
    out.next().refer(0, 4096, true, {.timed = way});
    out.post(0);
    const Fragment fragment = in.next(0);
    CHECK(fragment.timed == way);
    in.read(fragment, [] { wait_for_microseconds(20); });
    in.release(0, fragment);
    CHECK_EQ(out.reading().of(Stored::non_temporal, 4096) >= 20e-6f / 4096, way == Stored::non_temporal);
  }
  out.open_again();  // for another receiver
  CHECK_EQ(out.reading().of(Stored::non_temporal, 4096), 0);
}

TEST(stores_into_new_pages_are_not_timed) {
  StoreSelector selector;
  CHECK_EQ(non_temporal_of(selector, 100, 4096, true, 20, 0), 0);
  CHECK(non_temporal_of(selector, 500, 4096, false, 0, 20) < 30);
}

constexpr Bytes of_64k = 64 << 10;

/// Whether the last of so many messages went around, where a write takes so many microseconds in each way.
bool goes_around(StoreSelector& stores, int messages, int again_us, int non_temporal_us, int around_us,
                 const ReadingCosts& told = {}) {
  bool around = false;
  for (int i = 0; i < messages; ++i) {
    around = stores.goes_around(of_64k, of_64k);
    stores.run(of_64k, false, around, &told, [&](const Storing& storing) {
      wait_for_microseconds(around ? around_us : storing.non_temporal ? non_temporal_us : again_us);
    });
  }
  return around;
}

TEST(messages_go_around_where_that_is_better_for_both_ends) {
  const int trial = static_cast<int>(8 * own_cache() / of_64k) + 400;
  constexpr float microsecond = 1e-6f / of_64k;
  ReadingCosts told;  // what non-temporal stores have written is slow to read
  told.note(Stored::ordinary, of_64k, 20 * microsecond);
  told.note(Stored::non_temporal, of_64k, 100 * microsecond);
  told.note(Stored::around, of_64k, 20 * microsecond);
  StoreSelector near, far, in_vain;
  CHECK(!goes_around(near, 400, 20, 20, 0, told));
  CHECK(goes_around(far, trial, 100, 20, 20, told));
  CHECK(!far.on_trial(of_64k));
  CHECK(goes_around(in_vain, 100, 100, 20, 120, told) && in_vain.on_trial(of_64k));
  CHECK(!goes_around(in_vain, trial, 100, 20, 120, told) && !in_vain.on_trial(of_64k));
  CHECK(!far.goes_around(4 << 10, 4 << 10) && !far.goes_around(1 << 20, 1 << 20));
  Bytes passed = 0;
  for (; passed < Bytes{2} << 30 && !in_vain.goes_around(of_64k, of_64k); passed += of_64k)
    in_vain.run(of_64k, false, false, &told, [](const Storing& storing) {
      if (storing.timed != Stored::not_timed) wait_for_microseconds(storing.non_temporal ? 20 : 100);
    });
  CHECK(passed > Bytes{1} << 29 && passed < Bytes{2} << 30);
  CHECK(goes_around(in_vain, trial, 100, 20, 20, told));  // another try
}

TEST(nothing_is_tried_that_no_message_may_do) {
  const ReadingCosts told;
  StoreSelector stores;
  for (int i = 0; i < 400; ++i)
    stores.run(of_64k, false, false, &told,
               [](const Storing& storing) { wait_for_microseconds(storing.non_temporal ? 20 : 100); });
  CHECK(!stores.on_trial(of_64k));
}

/// How many of so many fragments are read by memcpy.
int by_memcpy_of(LoadSelector& loads, int fragments, Bytes bytes, int lines_us, int memcpy_us) {
  int count = 0;
  for (int i = 0; i < fragments; ++i)
    loads.run(bytes, [&](bool as_memcpy) {
      count += as_memcpy ? 1 : 0;
      wait_for_microseconds(as_memcpy ? memcpy_us : lines_us);
    });
  return count;
}

TEST(long_fragments_are_read_by_memcpy_unless_that_is_much_slower) {
  LoadSelector is_near, is_far, is_short;
  CHECK(by_memcpy_of(is_near, 500, 64 << 10, 20, 20) > 300);
  CHECK(by_memcpy_of(is_far, 500, 64 << 10, 20, 40) < 30);
  CHECK_EQ(by_memcpy_of(is_short, 500, 8 << 10, 20, 0), 0);
}

}  // namespace
}  // namespace stretto::transport::shm::selectors_test

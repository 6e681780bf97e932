// SPDX-License-Identifier: BSD-3-Clause
//
// Which of two ways to copy is taken, by what copies have taken before.
#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>
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

TEST(most_messages_of_an_exchange_are_not_timed_where_staging_is_better) {
  Messages messages{.lent = 3};
  CHECK(!messages.selector.stages_untimed(long_message, false));  // nothing is known yet
  int untimed = 0, lent = 0;
  const auto send = [&](int n) {
    untimed = lent = 0;
    bool probing = false;
    for (int i = 0; i < n; ++i) {
      if (messages.selector.stages_untimed(long_message, false)) {
        CHECK(!probing);
        ++untimed;
        continue;
      }
      const bool is_lent = messages.lent_of(1) > 0;
      lent += is_lent ? 1 : 0;
      probing = is_lent && !probing;  // a probe has two turns, one behind the other
    }
  };
  messages.lent_of(100);
  send(8000);
  CHECK(untimed > 6600 && untimed < 6860);
  CHECK(lent > 8 && lent < 30);
  messages.lent = 0.5;  // the machine has changed
  send(8000);
  CHECK(lent > 4000);
  send(1000);
  CHECK_EQ(untimed, 0);
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

/// Time passes only if a test says so: other programs on this machine change nothing.
struct TestClock {
  using time_point = std::chrono::time_point<std::chrono::steady_clock>;
  static inline time_point time{};
  static time_point now() { return time; }
  static void advance(int microseconds) { time += std::chrono::microseconds(microseconds); }
};

/// How many of so many fragments are written by non-temporal stores, where each way takes so many microseconds.
int non_temporal_of(StoreSelector& stores, int fragments, Bytes bytes, bool new_pages, int ordinary_us,
                    int non_temporal_us, const ReadingCosts* receiver = nullptr) {
  int count = 0;
  for (int i = 0; i < fragments; ++i)
    stores.run<TestClock>(bytes, new_pages, false, receiver, [&](const Storing& storing) {
      count += storing.non_temporal ? 1 : 0;
      TestClock::advance(storing.non_temporal ? non_temporal_us : ordinary_us);
    });
  return count;
}

TEST(the_faster_store_is_taken) {
  StoreSelector ordinary, non_temporal, doubtful;
  CHECK(non_temporal_of(ordinary, 500, 4096, false, 1, 20) < 30);
  CHECK(non_temporal_of(non_temporal, 500, 4096, false, 20, 1) > 450);
  // A little is not enough: the reader has to fetch the data from memory.
  CHECK(non_temporal_of(doubtful, 500, 4096, false, 20, 18) < 30);
}

/// The same, where reading takes so many microseconds.
int non_temporal_of(std::array<int, 2> writing_us, std::array<int, 2> reading_us) {
  ReadingCosts receiver;
  receiver.note(StoreMode::ordinary, 4096, static_cast<float>(reading_us[0]) * 1e-6f / 4096);
  receiver.note(StoreMode::non_temporal, 4096, static_cast<float>(reading_us[1]) * 1e-6f / 4096);
  StoreSelector stores;
  return non_temporal_of(stores, 500, 4096, false, writing_us[0], writing_us[1], &receiver);
}

TEST(what_reading_takes_counts) {
  CHECK(non_temporal_of({50, 10}, {10, 100}) < 30);
  CHECK(non_temporal_of({50, 40}, {40, 20}) > 450);
  CHECK(non_temporal_of({50, 40}, {0, 0}) < 30);  // not known
  ReadingCosts costs;
  costs.note(StoreMode::ordinary, 4096, 1);
  CHECK_EQ(costs.of(StoreMode::ordinary, 4096), 1);
  CHECK_EQ(costs.of(StoreMode::around, 4096), 0);
  CHECK_EQ(costs.of(StoreMode::ordinary, 8192), 0);  // another size
}

TEST(receivers_that_know_nothing_do_not_change_the_choice) {
  ReadingCosts receiver;
  const ReadingCosts silent;
  receiver.note(StoreMode::ordinary, 4096, 10e-6f / 4096);
  receiver.note(StoreMode::non_temporal, 4096, 100e-6f / 4096);
  StoreSelector stores;
  int count = 0;
  for (int i = 0; i < 300; ++i) {
    count += non_temporal_of(stores, 1, 4096, false, 50, 10, &receiver);
    count += non_temporal_of(stores, 1, 4096, false, 50, 10, &silent);
  }
  CHECK(count < 60);
}

TEST(only_fragments_that_their_writer_times_are_timed_by_readers) {
  const ReadingCosts receiver;
  StoreSelector stores;
  int timed = 0, typical = 0;
  for (int i = 0; i < 1000; ++i) {
    const Storing storing = stores.run<TestClock>(4096, false, false, &receiver, [](const Storing&) {});
    timed += storing.timed == StoreMode::not_timed ? 0 : 1;
    typical += storing.typical ? 1 : 0;
  }
  CHECK(timed > 20 && timed < 100);
  CHECK(typical > 900 && typical < 1000);
  for (const Storing& storing : {stores.run<TestClock>(512, false, false, &receiver, [](const Storing&) {}),
                                 stores.run<TestClock>(4096, true, false, &receiver, [](const Storing&) {})})
    CHECK(storing.timed == StoreMode::not_timed);
}

/// From one process to another.
struct TestConnection {
  static constexpr Capacity capacity{few_slots, 64};
  alignas(cache_line) std::byte lines[bytes_of_channels(capacity)]{};
  std::byte segment[4096]{};
  Connection connection;
  Outbox& out = connection.out[0];
  Inbox in;

  TestConnection() {
    for (int l = 0; l < channels; ++l)
      connection.out[l].open(channel_at(reinterpret_cast<Slot*>(lines), l, capacity), 0);
    in.open(out.channel(), segment, 0, 0);
  }
};

TEST(a_receiver_tells_what_reading_took_if_it_is_asked) {
  TestConnection peers;
  const auto told = [&] { return peers.out.reading()->of(StoreMode::non_temporal, 4096); };
  for (const StoreMode mode : {StoreMode::not_timed, StoreMode::non_temporal}) {
    peers.out.next().refer(0, 4096, true, {.timed = mode});
    peers.out.post(0);
    const Fragment fragment = peers.in.next(0);
    CHECK(fragment.timed == mode);
    peers.in.read(fragment, [] { std::this_thread::sleep_for(std::chrono::microseconds(20)); });
    peers.in.release(0, fragment);
    CHECK_EQ(told() >= 20e-6f / 4096, mode == StoreMode::non_temporal);
  }
  peers.connection.open_again();  // for another receiver
  CHECK_EQ(told(), 0);
}

TEST(a_receiver_has_caught_up_when_it_has_read_all_that_was_staged) {
  TestConnection peers;
  CHECK(peers.out.has_caught_up());
  peers.out.next().refer(0, 4096, true, {});
  peers.out.post(0);
  peers.out.note_staged();
  CHECK(!peers.out.has_caught_up());
  const Fragment staged = peers.in.next(0);
  peers.in.release(0, staged);
  peers.out.next().carried = Carried::inlined;  // what others come by says nothing of it
  peers.out.post(0);
  CHECK(peers.out.has_caught_up());
}

TEST(in_an_exchange_one_of_two_decides_for_both) {
  TestConnection peers;
  Connection& mine = peers.connection;
  const auto lends = [&](bool exchanged = true) { return mine.lending_is_faster(long_message, false, exchanged, 1); };
  for (int i = 0; i < 100; ++i) {
    mine.selector.packed(long_message, 1);  // staging is faster, as far as this end knows
    peers.out.channel().receipts->taking.staged.note(long_message, 1);
    peers.out.channel().receipts->taking.lent.note(long_message, 9);
  }
  int lent = 0;
  for (int i = 0; i < 100; ++i) lent += lends() ? 1 : 0;
  CHECK(lent < 30);
  for (const bool follows : {false, true}) {
    mine.follows = follows;
    lent = 0;
    for (int i = 0; i < 100; ++i) {
      mine.selector.came(long_message, true);
      lent += lends() ? 1 : 0;
    }
    CHECK(follows ? lent == 100 : lent < 30);
  }
  CHECK(!mine.stages_untimed(long_message));
  mine.selector.came(long_message, false);
  int untimed = 0;
  for (int i = 0; i < 70; ++i) untimed += mine.stages_untimed(long_message) ? 1 : 0;
  CHECK_EQ(untimed, 60);
  mine.selector.came(long_message, true);
  CHECK(!lends(false));
  for (int i = 0; i < 4; ++i) CHECK(lends());
  CHECK(!lends());  // nothing has come lately
}

TEST(stores_into_new_pages_are_not_timed) {
  StoreSelector selector;
  CHECK_EQ(non_temporal_of(selector, 100, 4096, true, 20, 1), 0);
  CHECK(non_temporal_of(selector, 500, 4096, false, 1, 20) < 30);
}

constexpr Bytes of_64k = 64 << 10;

/// Whether the last of so many messages went around, where a write takes so many microseconds in each way.
bool goes_around(StoreSelector& stores, int messages, int again_us, int non_temporal_us, int around_us,
                 const ReadingCosts& receiver = {}) {
  bool around = false;
  for (int i = 0; i < messages; ++i) {
    around = stores.goes_around(of_64k, of_64k);
    stores.run<TestClock>(of_64k, false, around, &receiver, [&](const Storing& storing) {
      TestClock::advance(around ? around_us : storing.non_temporal ? non_temporal_us : again_us);
    });
  }
  return around;
}

TEST(messages_go_around_where_that_is_better_for_both_ends) {
  const int trial = static_cast<int>(8 * own_cache() / of_64k) + 400;
  constexpr float microsecond = 1e-6f / of_64k;
  ReadingCosts receiver;  // what non-temporal stores have written is slow to read
  receiver.note(StoreMode::ordinary, of_64k, 20 * microsecond);
  receiver.note(StoreMode::non_temporal, of_64k, 100 * microsecond);
  receiver.note(StoreMode::around, of_64k, 20 * microsecond);
  StoreSelector near, far, in_vain;
  CHECK(!goes_around(near, 400, 20, 20, 1, receiver));
  CHECK(goes_around(far, trial, 100, 20, 20, receiver));
  CHECK(!far.on_trial(of_64k));
  CHECK(goes_around(in_vain, 8 + static_cast<int>(4 * own_cache() / of_64k), 100, 20, 120, receiver));
  CHECK(in_vain.on_trial(of_64k));
  CHECK(!goes_around(in_vain, trial, 100, 20, 120, receiver) && !in_vain.on_trial(of_64k));
  CHECK(!far.goes_around(4 << 10, 4 << 10) && !far.goes_around(1 << 20, 1 << 20));
  Bytes passed = 0;
  for (; passed < Bytes{2} << 30 && !in_vain.goes_around(of_64k, of_64k); passed += of_64k)
    in_vain.run<TestClock>(of_64k, false, false, &receiver, [](const Storing& storing) {
      if (storing.timed != StoreMode::not_timed) TestClock::advance(storing.non_temporal ? 20 : 100);
    });
  CHECK(passed > Bytes{1} << 29 && passed < Bytes{2} << 30);
  CHECK(goes_around(in_vain, trial, 100, 20, 20, receiver));  // another try
}

TEST(nothing_is_tried_that_no_message_may_do) {
  ReadingCosts receiver;
  receiver.note(StoreMode::ordinary, of_64k, 1e-6f / of_64k);
  receiver.note(StoreMode::non_temporal, of_64k, 100e-6f / of_64k);
  StoreSelector stores;
  bool tried = false;
  for (int i = 0; i < 100; ++i) {
    stores.run<TestClock>(of_64k, false, false, &receiver,
                          [](const Storing& storing) { TestClock::advance(storing.non_temporal ? 20 : 100); });
    tried |= stores.on_trial(of_64k);
  }
  CHECK(!tried);
}

/// How many of so many fragments are read by memcpy.
int by_memcpy_of(LoadSelector& loads, int fragments, Bytes bytes, int lines_us, int memcpy_us) {
  int count = 0;
  for (int i = 0; i < fragments; ++i)
    loads.run<TestClock>(bytes, [&](bool as_memcpy) {
      count += as_memcpy ? 1 : 0;
      TestClock::advance(as_memcpy ? memcpy_us : lines_us);
    });
  return count;
}

TEST(long_fragments_are_read_by_memcpy_unless_that_is_much_slower) {
  LoadSelector is_near, is_far, is_short;
  CHECK(by_memcpy_of(is_near, 500, 64 << 10, 20, 20) > 300);
  CHECK(by_memcpy_of(is_far, 500, 64 << 10, 20, 40) < 30);
  CHECK_EQ(by_memcpy_of(is_short, 500, 8 << 10, 20, 1), 0);
}

}  // namespace
}  // namespace stretto::transport::shm::selectors_test

// SPDX-License-Identifier: BSD-3-Clause
//
// A connection from one process to another: its channels, and the staging ring for what fits in no slot.
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>

#include "support/test.hpp"
#include "transport/shm/staging_ring.hpp"

namespace stretto::transport::shm::connection_test {
namespace {

/// A channel and both its ends.
struct TestConnection {
  alignas(cache_line) std::byte lines[bytes_of_channels({})]{};
  Channel channel = channel_at(reinterpret_cast<Slot*>(lines), 0, {});
  std::byte memory[64]{};
  Outbox out;
  Inbox in;

  explicit TestConnection(std::uint64_t start = 0) {
    channel.receipts->credits = start;
    out.open(channel, start);
    in.open(channel, memory, start, 0);
  }
  void post(std::uint32_t bytes = 0, bool inlined = true, std::uint64_t key = 0) {
    out.next().bytes = bytes;
    out.next().carried = inlined ? Carried::inlined : Carried::staged;
    out.next().at = 0;
    out.post(key);
  }
  void add_reference(StagingRing& staging, bool last_reader = true, std::uint64_t key = 0, std::uint64_t owner = 0) {
    post(0, false, key);
    staging.add_reference(out, out.sent(), owner, last_reader);
  }
  bool release() { return in.release(0, in.next(0)); }
};

TEST(lines_of_a_lane) {
  for (const std::uint64_t start : {0, 5, 1000003}) {
    TestConnection connection(start);
    CHECK(!connection.in.next(0));
    std::uint32_t sent = 0, read = 0;
    for (int turn = 0; turn < 5; ++turn) {
      for (; !connection.out.full(); ++sent) connection.post(sent);
      CHECK(sent - read <= few_slots && sent - read > few_slots - credit_batch);
      for (std::uint64_t i = 0; i < credit_batch + static_cast<std::uint64_t>(turn); ++i, ++read) {
        const Fragment fragment = connection.in.next(0);
        CHECK(fragment);
        if (!fragment) return;
        CHECK_EQ(fragment.bytes, read);
        CHECK(fragment.carried == Carried::inlined);
        CHECK_EQ(connection.in.release(0, fragment), (start + read + 1) % credit_batch == 0);
        CHECK_EQ(connection.out.released(start + read + 1), (start + read + 1) % credit_batch == 0);
      }
      CHECK(!connection.out.full());
    }
    while (connection.in.next(0)) connection.release();
    connection.in.close();
    CHECK(connection.out.released(connection.out.sent()));
  }
}

TEST(a_part_in_the_room_is_given_back_at_once) {
  TestConnection connection;
  connection.post();
  connection.post(0, false);
  CHECK(!connection.release());
  CHECK(connection.release());
  CHECK(connection.out.released(2));
}

TEST(a_closed_lane_may_serve_another_peer) {
  TestConnection connection;
  connection.post(0, false);
  connection.release();
  connection.channel.receipts->credits = 7;  // as the next peer says
  connection.in.close();
  CHECK_EQ(connection.channel.receipts->credits.load(), 7u);
}

TEST(a_part_lies_in_the_segment_of_its_sender) {
  TestConnection connection;
  std::byte segment[256]{};
  connection.in.open(connection.channel, segment, 0, 0);
  connection.out.next().carried = Carried::staged;
  connection.out.next().at = 192;
  connection.out.post(0);
  CHECK(connection.in.next(0).content == segment + 192);
}

TEST(a_lent_message_is_given_back_by_its_credit) {
  TestConnection connection;
  const std::byte message[3]{std::byte{1}, std::byte{2}, std::byte{3}};
  connection.in.open(connection.channel, connection.memory, 0, getpid());
  connection.out.next().lend(message, sizeof message, Help::none);
  connection.out.post(0);
  const Fragment lent = connection.in.next(0);
  CHECK(lent.carried == Carried::lent && lent.bytes == 3 && lent.last);
  std::byte here[2]{};
  CHECK(connection.in.copy(lent, 1, 2, here));
  CHECK(here[0] == message[1] && here[1] == message[2]);
  CHECK(!connection.out.released(1));
  connection.in.release(0, lent);
  CHECK(connection.out.released(1) && !connection.out.refused(1) && connection.out.lends());
}

/// One refusal is one for all: the sender may look only when several have been given back.
TEST(a_lent_message_that_cannot_be_read_is_refused_and_so_are_those_after_it) {
  const std::uint64_t first = key_of(1, 1), second = key_of(2, 1);
  TestConnection connection;
  connection.post(0, true, first);
  for (const std::uint64_t key : {first, second, first}) {
    connection.out.next().lend(connection.memory, 8, Help::none);
    connection.out.post(key);
  }
  connection.in.release(first, connection.in.next(first));
  std::byte here[8];
  CHECK(!connection.in.copy(connection.in.next(first), 0, 8, here));
  connection.in.refuse();
  CHECK(connection.in.buffer_unexpected(first));  // refused as well
  CHECK(!connection.in.next(second));
  connection.in.refuse();
  for (const std::uint64_t number : {2, 3, 4}) CHECK(connection.out.released(number) && connection.out.refused(number));
  CHECK(!connection.out.refused(1) && !connection.out.lends());
  connection.out.open_again();
  CHECK(connection.out.lends() && !connection.out.refused(9));
}

/// A long message at both ends of a connection, each of which the other's process can be reached from, or not.
struct Loaned {
  static constexpr Bytes bytes = (Bytes{1} << 20) + 4321;
  TestConnection connection;
  std::vector<std::byte> message = std::vector<std::byte>(bytes);
  std::vector<std::byte> here = std::vector<std::byte>(bytes);
  Bytes mine = 0;

  Loaned(std::int64_t sender, std::int64_t receiver, bool asks = true) {
    for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i % 251);
    connection.in.open(connection.channel, connection.memory, 0, sender);
    connection.out.set_receiver(receiver);
    connection.out.next().lend(message.data(), bytes, Help::anywhere);
    connection.out.post(0);
    if (asks) connection.in.ask_for_help({here.data(), false});
  }
  Copied copy() { return connection.in.copy_together(connection.in.next(0), {here.data(), false}, mine); }
  bool help() {
    const bool asked = connection.out.asked_for_help(1);
    if (asked) connection.out.help(1);
    return asked;
  }
};

TEST(the_receiver_copies_alone_if_the_sender_is_busy_or_was_not_asked) {
  for (const bool asks : {false, true}) {
    Loaned loaned(getpid(), getpid(), asks);
    if (!asks) CHECK(!loaned.help());
    CHECK(loaned.copy() == Copied::all && loaned.mine == Loaned::bytes);
    CHECK(loaned.here == loaned.message);
    CHECK(!loaned.help());  // nothing is left
  }
}

TEST(both_ends_copy_a_lent_message) {
  for (int turn = 0; turn < 50; ++turn) {
    Loaned loaned(getpid(), getpid());
    std::atomic<bool> end{false};
    std::thread sender([&] {
      while (!end) loaned.help();
    });
    Copied copied = Copied::in_part;
    while (copied == Copied::in_part) copied = loaned.copy();
    end = true;
    sender.join();
    CHECK(copied == Copied::all);
    CHECK(loaned.here == loaned.message);
  }
}

TEST(a_sender_does_the_rest_of_a_lent_message) {
  Loaned loaned(getpid(), getpid());
  Loan& loan = loaned.connection.channel.slots[0].loan;
  const LoanPiece first = take_piece(loan);  // which the receiver has not copied yet
  CHECK(loaned.help());
  CHECK(loaned.copy() == Copied::in_part && loaned.mine == 0);
  kernel_read(getpid(), loaned.here.data(), loan.address, first.bytes);
  loaned.mine = first.bytes;
  CHECK(loaned.copy() == Copied::all);
  CHECK(loaned.here == loaned.message);
}

TEST(a_sender_that_may_not_write_leaves_all_to_the_receiver) {
  Loaned loaned(getpid(), 0);
  CHECK(loaned.help());   // tries a piece
  CHECK(!loaned.help());  // and no second one
  CHECK(loaned.copy() == Copied::all);
  CHECK(loaned.here == loaned.message);
}

TEST(a_withdrawn_buffer_is_not_written_any_more) {
  Loaned loaned(getpid(), getpid());
  loaned.connection.in.withdraw(0, {});
  CHECK(!loaned.help());
  CHECK(loaned.here == std::vector<std::byte>(Loaned::bytes));
}

TEST(a_lent_message_of_another_operation_is_put_aside) {
  const std::uint64_t first = key_of(1, 1), second = key_of(2, 1);
  TestConnection connection;
  connection.in.open(connection.channel, connection.memory, 0, getpid());
  const std::byte message[3]{std::byte{1}, std::byte{2}, std::byte{3}};
  connection.out.next().lend(message, sizeof message, Help::none);
  connection.out.post(first);
  CHECK(connection.in.buffer_unexpected(second));
  CHECK(connection.out.released(1) && !connection.out.refused(1));
  const Fragment found = connection.in.next(first);
  CHECK(found.unexpected && found.carried == Carried::staged && found.last);
  CHECK(found.bytes == 3 && found.content[2] == message[2]);
}

TEST(parts_of_other_operations_are_put_aside) {
  constexpr std::uint32_t comm = 7, other = 8;
  const std::uint64_t first = key_of(comm, 1), second = key_of(comm, 2), third = key_of(other, 2);
  TestConnection connection(65530);  // numbers of a channel go on behind what a key holds of them
  for (int turn = 0; turn < 5; ++turn) {
    for (std::uint32_t fragment = 0; fragment < 3; ++fragment) {
      connection.post(10 + fragment, true, first);
      connection.post(20 + fragment, false, second);
      connection.post(30 + fragment, true, third);
    }
    CHECK(!connection.in.next(third) && !connection.in.next(second));
    CHECK(!connection.in.buffer_unexpected(first));  // it is next
    for (std::uint32_t fragment = 0; fragment < 3; ++fragment) {
      while (!connection.in.next(third)) CHECK(connection.in.buffer_unexpected(third));
      const Fragment found = connection.in.next(third);
      CHECK(found.bytes == 30 + fragment && !found.unexpected);
      connection.in.release(third, found);
    }
    CHECK(!connection.in.buffer_unexpected(third) && !connection.in.next(third));
    connection.post(23, false, second);
    for (std::uint32_t fragment = 0; fragment < 4; ++fragment) {  // the last one is not buffered
      const Fragment found = connection.in.next(second);
      CHECK(found.bytes == 20 + fragment && found.unexpected == (fragment < 3));
      CHECK_EQ(connection.in.release(second, found), fragment == 3);
    }
    connection.in.forget(turn < 3 ? comm : other);
    for (std::uint32_t fragment = 0; fragment < 3 && turn >= 3; ++fragment) {
      CHECK_EQ(connection.in.next(first).bytes, 10 + fragment);
      connection.in.release(first, connection.in.next(first));
    }
    CHECK(!connection.in.next(first));
  }
}

TEST(what_readers_of_others_do_not_take_is_no_obstacle) {
  // With connections of their own, communicators have the same number in keys.
  const std::uint64_t mine = key_of(0, 5), same = key_of(0, 4), others = key_of(0, 5);
  alignas(cache_line) std::byte memory[1024];
  StagingRing staging(memory, sizeof memory);
  TestConnection a, b, c;
  CHECK(staging.take(256) == memory);
  a.add_reference(staging, true, others, 2);
  CHECK(staging.take(256) == memory + 256);
  b.add_reference(staging, true, same, 1);
  CHECK(staging.take(448) == memory + 512);
  const auto window = staging.add_reference(c.out, StagingRing::not_posted, 1, true);
  CHECK(!staging.take(128));
  b.in.release(same, b.in.next(same));
  CHECK(!staging.take(128));
  CHECK(staging.detach_others(1));
  CHECK(staging.take(128) == memory + 256);  // between what others keep and the window
  c.add_reference(staging, true, mine, 1);
  CHECK(!staging.take(192));
  c.post(0, false, mine);
  staging.posted(window, c.out.sent());
  while (const Fragment fragment = c.in.next(mine)) c.in.release(mine, fragment);
  CHECK(staging.take(640) == memory + 384);
  c.add_reference(staging, true, mine, 1);
  CHECK(staging.detach_others(1));
  CHECK(!staging.take(256));
  while (const Fragment fragment = c.in.next(mine)) c.in.release(mine, fragment);
  CHECK(!staging.drained());
  a.in.release(others, a.in.next(others));
  CHECK(staging.drained());
  CHECK(staging.take(256) == memory);
}

TEST(room_is_taken_back_in_order) {
  alignas(cache_line) std::byte memory[1024];
  StagingRing staging(memory, sizeof memory);
  TestConnection a, b;
  CHECK(staging.take(400) == memory);
  a.add_reference(staging);
  CHECK(staging.take(448) == memory + 448);
  b.add_reference(staging);
  CHECK(!staging.take(200));  // would wrap around, where a's is
  b.release();
  CHECK(!staging.take(200));  // b's lies behind a's
  CHECK(staging.take(128) == memory + 896);
  b.add_reference(staging);
  a.release();
  CHECK(staging.take(448) == memory);
  a.add_reference(staging);
  CHECK(staging.take(448) == memory + 448);
  a.add_reference(staging);
  CHECK(!staging.take(64));
}

TEST(where_all_has_been_read_a_quarter_is_used) {
  alignas(cache_line) std::byte memory[1024];
  StagingRing staging(memory, sizeof memory);
  TestConnection reader;
  const auto take = [&](Bytes bytes) {
    const std::byte* chunk = staging.take(bytes);
    reader.add_reference(staging);
    return chunk - memory;
  };
  for (const Bytes at : {0, 64, 128, 192, 0, 64}) {
    CHECK_EQ(take(64), at);
    reader.release();
  }
  for (const Bytes at : {128, 192, 256, 320}) CHECK_EQ(take(64), at);  // not read yet
  while (reader.in.next(0)) reader.release();
  CHECK_EQ(take(128), 384);  // four of these
  reader.release();
  CHECK_EQ(take(128), 0);
  CHECK_EQ(take(896), 128);
  CHECK(!staging.take(64));
  while (reader.in.next(0)) reader.release();
  CHECK_EQ(take(64), 0);
}

TEST(a_piece_that_several_read) {
  alignas(cache_line) std::byte memory[1024];
  StagingRing staging(memory, sizeof memory);
  TestConnection readers[3];
  CHECK(staging.take(1024) == memory);
  for (int r = 0; r < 3; ++r) readers[r].add_reference(staging, r == 2);
  for (const int r : {2, 0, 1}) {
    CHECK(!staging.take(1));
    readers[r].release();
  }
  CHECK(staging.take(1) == memory);
}

TEST(as_many_loans_as_there_are) {
  constexpr Bytes pieces = 200;
  alignas(cache_line) static std::byte memory[pieces * 64];
  StagingRing staging(memory, sizeof memory);
  std::vector<TestConnection> connections(40);
  for (int i = 0; i < 10; ++i) {  // so that the references that follow do not begin with the first one
    CHECK(staging.take(pieces * 64 / 10) != nullptr);
    connections[0].add_reference(staging);
    connections[0].release();
  }
  for (int turn = 0; turn < 7; ++turn) {
    std::set<std::byte*> taken;
    for (Bytes i = 0; i < pieces; ++i) {
      std::byte* piece = staging.take(1 + i % 64);
      CHECK(piece && (piece - memory) % 64 == 0);
      taken.insert(piece);
      connections[static_cast<std::size_t>(i) % connections.size()].add_reference(staging);
    }
    CHECK_EQ(taken.size(), pieces);
    CHECK(!staging.take(1));
    for (auto w = connections.rbegin(); w != connections.rend(); ++w)
      while (w->in.next(0)) w->release();
    CHECK(staging.take(64) != nullptr);
    connections[0].add_reference(staging);
    connections[0].release();
  }
}

/// Wherever the free fragment begins: half of the staging at once, or pieces that fill it but for the largest one.
TEST(what_always_fits) {
  alignas(cache_line) std::byte memory[1024];
  for (Bytes before = 0; before <= 1024; before += 64) {
    StagingRing staging(memory, sizeof memory);
    TestConnection connection;
    if (before > 0) {
      staging.take(before);
      connection.add_reference(staging);
      connection.release();
    }
    for (const Bytes bytes : {192, 128, 192, 192, 128}) {
      const std::byte* piece = staging.take(bytes);
      CHECK(piece >= memory && piece + bytes <= memory + sizeof memory);
      connection.add_reference(staging);
    }
    while (connection.in.next(0)) connection.release();
    CHECK(staging.take(512) != nullptr);
  }
  CHECK_EQ(StagingRing(memory, sizeof memory).capacity(190), 1024 - 192);
}

}  // namespace
}  // namespace stretto::transport::shm::connection_test

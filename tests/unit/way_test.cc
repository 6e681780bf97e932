// SPDX-License-Identifier: BSD-3-Clause
//
// A way from one process to another: its lanes, and the room for what fits in no line.
#include <set>

#include "support/test.hpp"
#include "transport/shm/room.hpp"

namespace stretto::transport::shm::way_test {
namespace {

/// A lane and both its ends.
struct Way {
  Lane lane{};
  std::byte memory[64]{};
  Outbox out;
  Inbox in;

  explicit Way(std::uint64_t start = 0) {
    lane.taken = start;
    out.open(&lane, start);
    in.open(&lane, memory, start);
  }
  void post(std::uint32_t bytes = 0, bool inlined = true, std::uint64_t key = 0) {
    out.next().bytes = bytes;
    out.next().inlined = inlined ? 1 : 0;
    out.next().at = 0;
    out.post(key);
  }
  void lend(Room& room, bool last_reader = true, std::uint64_t key = 0) {
    post(0, false, key);
    room.lend(out, out.sent(), key, last_reader);
  }
  bool release() { return in.release(0, in.next(0)); }
};

TEST(lines_of_a_lane) {
  for (const std::uint64_t start : {0, 5, 1000003}) {
    Way way(start);
    CHECK(!way.in.next(0));
    std::uint32_t sent = 0, read = 0;
    for (int turn = 0; turn < 5; ++turn) {
      for (; !way.out.full(); ++sent) way.post(sent);
      CHECK(sent - read <= ring && sent - read > ring - group);
      for (std::uint64_t i = 0; i < group + static_cast<std::uint64_t>(turn); ++i, ++read) {
        const Part part = way.in.next(0);
        CHECK(part);
        if (!part) return;
        CHECK_EQ(part.bytes, read);
        CHECK(part.inlined);
        CHECK_EQ(way.in.release(0, part), (start + read + 1) % group == 0);
        CHECK_EQ(way.out.taken(start + read + 1), (start + read + 1) % group == 0);
      }
      CHECK(!way.out.full());
    }
    while (way.in.next(0)) way.release();
    way.in.close();
    CHECK(way.out.taken(way.out.sent()));
  }
}

TEST(a_part_in_the_room_is_given_back_at_once) {
  Way way;
  way.post();
  way.post(0, false);
  CHECK(!way.release());
  CHECK(way.release());
  CHECK(way.out.taken(2));
}

TEST(a_closed_lane_may_serve_another_peer) {
  Way way;
  way.post(0, false);
  way.release();
  way.lane.taken = 7;  // as the next peer says
  way.in.close();
  CHECK_EQ(way.lane.taken.load(), 7u);
}

TEST(a_part_lies_in_the_segment_of_its_sender) {
  Way way;
  std::byte segment[256]{};
  way.in.open(&way.lane, segment, 0);
  way.out.next().inlined = 0;
  way.out.next().at = 192;
  way.out.post(0);
  CHECK(way.in.next(0).content == segment + 192);
}

TEST(parts_of_other_operations_are_put_aside) {
  constexpr std::uint32_t comm = 7, other = 8;
  const std::uint64_t first = key_of(comm, 1), second = key_of(comm, 2), third = key_of(other, 2);
  Way way(65530);  // numbers of a lane go on behind what a key holds of them
  for (int turn = 0; turn < 5; ++turn) {
    for (std::uint32_t part = 0; part < 3; ++part) {
      way.post(10 + part, true, first);
      way.post(20 + part, false, second);
      way.post(30 + part, true, third);
    }
    CHECK(!way.in.next(third) && !way.in.next(second));
    CHECK(!way.in.put_aside(first));  // it is next
    for (std::uint32_t part = 0; part < 3; ++part) {
      while (!way.in.next(third)) CHECK(way.in.put_aside(third));
      const Part found = way.in.next(third);
      CHECK(found.bytes == 30 + part && !found.early);
      way.in.release(third, found);
    }
    CHECK(!way.in.put_aside(third) && !way.in.next(third));
    way.post(23, false, second);
    for (std::uint32_t part = 0; part < 4; ++part) {  // the last one has not been put aside
      const Part found = way.in.next(second);
      CHECK(found.bytes == 20 + part && found.early == (part < 3));
      CHECK_EQ(way.in.release(second, found), part == 3);
    }
    way.in.forget(turn < 3 ? comm : other);
    for (std::uint32_t part = 0; part < 3 && turn >= 3; ++part) {
      CHECK_EQ(way.in.next(first).bytes, 10 + part);
      way.in.release(first, way.in.next(first));
    }
    CHECK(!way.in.next(first));
  }
}

TEST(what_readers_of_others_do_not_take_is_no_obstacle) {
  const std::uint64_t mine = key_of(1, 5), same = key_of(1, 4), others = key_of(2, 5);
  alignas(cache_line) std::byte memory[1024];
  Room room(memory, sizeof memory);
  Way a, b, c;
  CHECK(room.take(256) == memory);
  a.lend(room, true, others);
  CHECK(room.take(256) == memory + 256);
  b.lend(room, true, same);
  CHECK(room.take(448) == memory + 512);
  const auto window = room.lend(c.out, Room::not_posted, mine, true);
  CHECK(!room.take(128));
  b.in.release(same, b.in.next(same));
  CHECK(!room.take(128));
  CHECK(room.keep_others(mine));
  CHECK(room.take(128) == memory + 256);  // between what others keep and the window
  c.lend(room, true, mine);
  CHECK(!room.take(192));
  c.post(0, false, mine);
  room.posted(window, c.out.sent());
  while (const Part part = c.in.next(mine)) c.in.release(mine, part);
  CHECK(room.take(640) == memory + 384);
  c.lend(room, true, mine);
  CHECK(room.keep_others(mine));
  CHECK(!room.take(256));
  a.in.release(others, a.in.next(others));
  CHECK(room.take(256) == memory);
}

TEST(room_is_taken_back_in_order) {
  alignas(cache_line) std::byte memory[1024];
  Room room(memory, sizeof memory);
  Way a, b;
  CHECK(room.take(400) == memory);
  a.lend(room);
  CHECK(room.take(448) == memory + 448);
  b.lend(room);
  CHECK(!room.take(200));  // would wrap around, where a's is
  b.release();
  CHECK(!room.take(200));  // b's lies behind a's
  CHECK(room.take(128) == memory + 896);
  b.lend(room);
  a.release();
  CHECK(room.take(448) == memory);
  a.lend(room);
  CHECK(room.take(448) == memory + 448);
  a.lend(room);
  CHECK(!room.take(64));
}

TEST(a_piece_that_several_read) {
  alignas(cache_line) std::byte memory[1024];
  Room room(memory, sizeof memory);
  Way readers[3];
  CHECK(room.take(1024) == memory);
  for (int r = 0; r < 3; ++r) readers[r].lend(room, r == 2);
  for (const int r : {2, 0, 1}) {
    CHECK(!room.take(1));
    readers[r].release();
  }
  CHECK(room.take(1) == memory);
}

TEST(as_many_loans_as_there_are) {
  constexpr Bytes pieces = 200;
  alignas(cache_line) static std::byte memory[pieces * 64];
  Room room(memory, sizeof memory);
  std::vector<Way> ways(40);
  for (int i = 0; i < 10; ++i) {  // so that the loans that follow do not begin with the first one
    CHECK(room.take(pieces * 64 / 10) != nullptr);
    ways[0].lend(room);
    ways[0].release();
  }
  for (int turn = 0; turn < 7; ++turn) {
    std::set<std::byte*> taken;
    for (Bytes i = 0; i < pieces; ++i) {
      std::byte* piece = room.take(1 + i % 64);
      CHECK(piece && (piece - memory) % 64 == 0);
      taken.insert(piece);
      ways[static_cast<std::size_t>(i) % ways.size()].lend(room);
    }
    CHECK_EQ(taken.size(), pieces);
    CHECK(!room.take(1));
    for (auto w = ways.rbegin(); w != ways.rend(); ++w)
      while (w->in.next(0)) w->release();
    CHECK(room.take(64) != nullptr);
    ways[0].lend(room);
    ways[0].release();
  }
}

/// Wherever the free part begins: half of the room at once, or pieces that fill it but for the largest one.
TEST(what_always_fits) {
  alignas(cache_line) std::byte memory[1024];
  for (Bytes before = 0; before <= 1024; before += 64) {
    Room room(memory, sizeof memory);
    Way way;
    if (before > 0) {
      room.take(before);
      way.lend(room);
      way.release();
    }
    for (const Bytes bytes : {192, 128, 192, 192, 128}) {
      const std::byte* piece = room.take(bytes);
      CHECK(piece >= memory && piece + bytes <= memory + sizeof memory);
      way.lend(room);
    }
    while (way.in.next(0)) way.release();
    CHECK(room.take(512) != nullptr);
  }
  CHECK_EQ(Room(memory, sizeof memory).capacity(190), 1024 - 192);
}

}  // namespace
}  // namespace stretto::transport::shm::way_test

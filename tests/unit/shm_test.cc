// SPDX-License-Identifier: BSD-3-Clause
//
// What processes of a node share: rooms, lanes, segments, ways.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "support/test.hpp"
#include "transport/shm/process.hpp"

namespace stretto::transport::shm {
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

std::unique_ptr<Segment> segment_of(Bytes most) {
  std::string why;
  auto segment = Segment::create(most, why);
  if (!segment) test::fail(__FILE__, __LINE__, why);
  return segment;
}

TEST(a_segment_has_an_end) {
  const auto segment = segment_of(1 << 20);
  Bytes all = 0;
  std::byte* last = nullptr;
  for (const Bytes bytes : {Bytes{64}, Bytes{100}, Bytes{4096}, Bytes{64}, Bytes{500000}}) {
    std::byte* memory = segment->take(bytes);
    CHECK(memory > last);
    CHECK_EQ(segment->offset(memory) % (bytes % 4096 == 0 ? 4096 : 64), 0);
    for (Bytes i = 0; i < bytes; ++i) all += static_cast<Bytes>(memory[i]);
    std::fill_n(memory, bytes, std::byte{255});
    last = memory;
  }
  CHECK_EQ(all, 0);
  CHECK(!segment->take(600000));
  CHECK(!segment->take(1 << 18, 1 << 19));  // but for the last half
  CHECK(segment->take(1 << 18) != nullptr);
  Bytes more = 0;
  while (segment->take(64)) more += 64;
  CHECK(more > 200000 && more < 300000);
}

TEST(segments_that_cannot_be) {
  std::string why;
  CHECK(!Segment::create(Bytes{1} << 62, why));
  CHECK(!why.empty());
  why.clear();
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit less{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &less);
  CHECK(!Segment::create(2 << 20, why));  // and no signal
  const auto small = Segment::create(1 << 20, why);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK_EQ(why, "the limit on the size of files, ulimit -f, is less than 2048 KiB");
  CHECK(small != nullptr);
}

TEST(a_segment_is_mapped_by_its_card) {
  const auto segment = segment_of(2 << 20);
  std::byte* mine = segment->take(64);
  std::string why;
  const auto mapping = Mapping::open(segment->card(), why);
  CHECK(mapping != nullptr);
  if (!mapping) return test::fail(__FILE__, __LINE__, why);
  std::byte* theirs = mapping->memory() + segment->offset(mine);
  CHECK(theirs != mine);
  *mine = std::byte{42};
  CHECK(*theirs == std::byte{42});
  mapping->bell()->rings = 7;
  CHECK_EQ(segment->bell()->rings.load(), 7);
}

/// What a process of the same number in another container may have there.
TEST(what_is_no_such_segment_is_not_mapped) {
  const auto segment = segment_of(1 << 20);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const auto refused = [&](auto change) {
    Card card = segment->card();
    change(card);
    std::string why;
    CHECK(!Mapping::open(card, why));
    return why.substr(why.find_last_of('/') + 1);
  };
  const std::string number = std::to_string(segment->card().file);
  CHECK_EQ(refused([](Card& c) { c.token[1] ^= 1; }), number + " is of another process");
  CHECK_EQ(refused([&](Card& c) { c.file = null; }), std::to_string(null) + " is of another process");
  close(null);
  CHECK_EQ(refused([&](Card& c) { c.file = null; }), std::to_string(null) + ": No such file or directory");
}

Bytes blocks_of(const Segment& segment) {
  struct stat found{};
  fstat(static_cast<int>(segment.card().file), &found);
  return found.st_blocks * 512;
}

TEST(memory_is_taken_from_the_system_as_it_is_used) {
  const auto segment = segment_of(8 << 20);
  const Bytes before = blocks_of(*segment);
  std::byte* memory = segment->reserve(4 << 20);
  CHECK_EQ(blocks_of(*segment), before);
  Room room(memory, 4 << 20, segment.get());
  std::fill_n(room.take(1000), 1000, std::byte{1});
  CHECK_EQ(blocks_of(*segment), before + (64 << 10));
  std::fill_n(room.take(1 << 20), 1 << 20, std::byte{1});
  CHECK_EQ(blocks_of(*segment), before + (1 << 20) + (64 << 10));
}

/// Whether its end was a fault, of a process that did `last` before it was killed.
template <typename Last>
bool found_dead(Last last) {
  int cards[2];
  if (pipe(cards) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    std::string why;
    const auto segment = Segment::create(1 << 20, why);
    last(*segment);
    if (write(cards[1], &segment->card(), sizeof(Card)) == sizeof(Card)) pause();
    _exit(1);
  }
  Card card;
  std::string why;
  const bool came = read(cards[0], &card, sizeof card) == sizeof card;
  for (const int end : cards) close(end);
  const auto mapping = came ? Mapping::open(card, why) : nullptr;
  CHECK(mapping && !mapping->died());
  kill(child, SIGKILL);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  const bool died = mapping && mapping->died();  // nobody has asked for its status yet
  waitpid(child, nullptr, 0);
  CHECK(!mapping || mapping->died() == died);
  return died;
}

TEST(a_process_that_ends_too_early_is_seen) {
  CHECK(found_dead([](Segment&) {}));
  CHECK(!found_dead([](Segment& segment) { segment.depart(); }));
}

std::unique_ptr<Process> process_of(Bytes most) {
  std::string why;
  auto process = Process::create(most, why);
  if (!process) test::fail(__FILE__, __LINE__, why);
  return process;
}

TEST(ways_leave_room_for_threads) {
  const auto process = process_of(4 << 20);
  int ways = 0;
  while (process->new_connection()) ++ways;
  CHECK(ways > 600 && ways < 700);
  // One set of rooms is there from the beginning; the last quarter has room for some others, which become smaller.
  std::vector<Rooms> all;
  while (const auto rooms = process->take_rooms()) all.push_back(*rooms);
  CHECK_EQ(all.size(), 8);
  CHECK_EQ(all.front()[0]->bytes(), 65536);
  CHECK_EQ(all.back()[0]->bytes(), 16384);
  CHECK(all.front()[0] != all.back()[0]);
  process->give_back(all.front());
  const auto again = process->take_rooms();
  CHECK(again && (*again)[0] == all.front()[0]);
  std::string why;
  CHECK(!Process::create(64 << 10, why));
  CHECK_EQ(why, "there is no memory for the messages of a thread");
}

TEST(a_way_serves_another_peer_once_all_is_read) {
  const auto a = process_of(4 << 20), b = process_of(4 << 20);
  Connection* to_b = a->new_connection();
  Connection* to_a = b->new_connection();
  const auto meet = [&](Connection& mine, Process& me, Connection& theirs, Process& other) {
    auto* memory = const_cast<std::byte*>(other.segment().memory());
    const Address at = other.address(theirs);
    const Address back = me.address(mine);
    Process::connect(mine, at, memory, other.segment().bell());
    Process::connect(theirs, back, const_cast<std::byte*>(me.segment().memory()), me.segment().bell());
  };
  meet(*to_b, *a, *to_a, *b);
  for (int l = 0; l < lanes; ++l) to_b->out[l].post(0);
  a->retire(to_b);
  for (int l = 0; l < lanes; ++l) {
    Connection* other = a->new_connection();
    CHECK(other != to_b);
    CHECK(to_a->in[l].next(0));
    to_a->in[l].release(0, to_a->in[l].next(0));
  }
  Connection* again = a->new_connection();
  CHECK(again == to_b);
  meet(*again, *a, *b->new_connection(), *b);
  CHECK_EQ(a->address(*again).start[3], 1);
}

bool is_mapped_twice(Process& process) {
  std::ifstream maps("/proc/self/maps");
  struct stat found{};
  fstat(static_cast<int>(process.segment().card().file), &found);
  int times = 0;
  for (std::string line; std::getline(maps, line);)
    times += line.find("memfd:stretto") != std::string::npos &&
             line.find(' ' + std::to_string(found.st_ino) + ' ') != std::string::npos;
  return times > 1;
}

TEST(a_segment_is_mapped_as_long_as_there_are_ways_to_it) {
  const auto a = process_of(4 << 20), b = process_of(4 << 20);
  Refusal refusal;
  Connection* first = a->new_connection(b->segment().card(), refusal);
  Connection* second = a->new_connection(b->segment().card(), refusal);
  CHECK(first && second && is_mapped_twice(*b));
  Connection* back = b->new_connection(a->segment().card(), refusal);
  a->connect(*first, b->address(*back));
  CHECK(!a->peer_died(*first));
  a->retire(second);
  CHECK(is_mapped_twice(*b));
  a->retire(first);
  CHECK(!is_mapped_twice(*b));
  while (a->new_connection(b->segment().card(), refusal)) {
  }
  CHECK(refusal.full);
}

}  // namespace
}  // namespace stretto::transport::shm

TEST_MAIN()

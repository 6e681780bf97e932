// SPDX-License-Identifier: BSD-3-Clause
//
// What processes of a node share: segments, and connections to others.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "support/test.hpp"
#include "transport/shm/process.hpp"

namespace stretto::transport::shm::shm_test {
namespace {

constexpr Capacity many{many_slots, 0};

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

TEST(room_near_the_header_is_provided_at_once_and_no_more) {
  const auto segment = segment_of(8 << 20);
  struct stat found{};
  const auto bytes_of_file = [&] {
    fstat(static_cast<int>(segment->handle().file), &found);
    return static_cast<Bytes>(found.st_size);
  };
  CHECK(segment->provide_near_header(100000));
  const Bytes provided = bytes_of_file();
  CHECK(provided >= 100000 && provided < 200000);
  for (Bytes taken = 0; taken < 90000; taken += 4352) CHECK(segment->take(4352));
  CHECK_EQ(bytes_of_file(), provided);
  CHECK(segment->provide_near_header(Bytes{1} << 40));
  CHECK(bytes_of_file() <= 512 << 10);
}

TEST(what_others_read_first_stands_near_the_header) {
  std::string why;
  const auto process = Process::create(64 << 20, why);
  if (!process) return test::fail(__FILE__, __LINE__, why);
  const Segment& segment = process->segment();
  CHECK(segment.offset(segment.doorbell()) < 4096);
  Bytes end = segment.offset(process->boards().take(1)), all = 0;
  CHECK(end < 4096);
  bool near = true;
  for (int r = 0; r < 100; ++r) {  // more than there is room for
    const Connection* connection = process->new_connection(many);
    if (!connection) return test::fail(__FILE__, __LINE__, "there is no connection");
    const auto* memory = reinterpret_cast<std::byte*>(connection->out[0].channel().slots);
    const Bytes bytes = bytes_of_channels(many), begin = segment.offset(memory);
    CHECK(begin >= end);                           // nothing lies on another thing
    CHECK(r >= 31 || begin + bytes <= 256 << 10);  // all ranks that meet at once
    if (begin > 512 << 10) near = false;
    CHECK(near || begin >= (512 << 10) + 4 * Process::staging_bytes);  // behind the first thread's rings
    for (Bytes i = 0; i < bytes; ++i) all += static_cast<Bytes>(memory[i]);
    end = begin + bytes;
  }
  CHECK(!near);
  CHECK_EQ(all, 0);
}

TEST(a_segment_does_not_get_shorter) {
  const auto segment = segment_of(1 << 20);
  const std::byte* memory = segment->take(64);
  CHECK(segment->grow(4096));
  struct stat found{};
  CHECK_EQ(fstat(static_cast<int>(segment->handle().file), &found), 0);
  CHECK(found.st_size >= 32 << 10);  // provided with it
  CHECK(*memory == std::byte{0});
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

TEST(a_limit_that_the_program_lowers_refuses_memory) {
  const auto segment = segment_of(4 << 20);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit less{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &less);
  CHECK(!segment->grow(2 << 20));
  CHECK(segment->take(64) != nullptr);
  CHECK(!segment->take(2 << 20));
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(segment->grow(2 << 20));
}

TEST(a_segment_is_mapped_by_its_card) {
  const auto segment = segment_of(2 << 20);
  std::byte* mine = segment->take(64);
  std::string why;
  const auto mapping = Mapping::open(segment->handle(), why);
  CHECK(mapping != nullptr);
  if (!mapping) return test::fail(__FILE__, __LINE__, why);
  std::byte* theirs = mapping->memory() + segment->offset(mine);
  CHECK(theirs != mine);
  *mine = std::byte{42};
  CHECK(*theirs == std::byte{42});
  mapping->doorbell()->rings = 7;
  CHECK_EQ(segment->doorbell()->rings.load(), 7);
}

/// What a process of the same number in another container may have there.
TEST(what_is_no_such_segment_is_not_mapped) {
  const auto segment = segment_of(1 << 20);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const auto refused = [&](auto change) {
    SegmentHandle handle = segment->handle();
    change(handle);
    std::string why;
    CHECK(!Mapping::open(handle, why));
    return why.substr(why.find_last_of('/') + 1);
  };
  const std::string number = std::to_string(segment->handle().file);
  CHECK_EQ(refused([](SegmentHandle& c) { c.token[1] ^= 1; }), number + " is of another process");
  CHECK_EQ(refused([&](SegmentHandle& c) { c.file = null; }), std::to_string(null) + " is of another process");
  close(null);
  CHECK_EQ(refused([&](SegmentHandle& c) { c.file = null; }), std::to_string(null) + ": No such file or directory");
}

Bytes blocks_of(const Segment& segment) {
  struct stat found{};
  fstat(static_cast<int>(segment.handle().file), &found);
  return found.st_blocks * 512;
}

TEST(memory_is_taken_from_the_system_as_it_is_used) {
  const auto segment = segment_of(8 << 20);
  const Bytes before = blocks_of(*segment);
  std::byte* memory = segment->reserve(4 << 20);
  CHECK_EQ(blocks_of(*segment), before);
  StagingRing staging(memory, 4 << 20, segment.get());
  std::fill_n(staging.take(1000), 1000, std::byte{1});
  CHECK_EQ(blocks_of(*segment), before + (16 << 10));
  std::fill_n(staging.take(1 << 20), 1 << 20, std::byte{1});
  CHECK_EQ(blocks_of(*segment), before + (1 << 20) + (16 << 10));
}

/// Whether its end was a fault, of a process that did `last` before it was killed.
template <typename Last>
bool found_dead(Last last) {
  int pipes[2];
  if (pipe(pipes) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    std::string why;
    const auto segment = Segment::create(1 << 20, why);
    last(*segment);
    if (write(pipes[1], &segment->handle(), sizeof(SegmentHandle)) == sizeof(SegmentHandle)) pause();
    _exit(1);
  }
  SegmentHandle handle;
  std::string why;
  const bool came = read(pipes[0], &handle, sizeof handle) == sizeof handle;
  for (const int end : pipes) close(end);
  const auto mapping = came ? Mapping::open(handle, why) : nullptr;
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
  int connections = 0;
  while (process->new_connection()) ++connections;
  CHECK(connections > 600 && connections < 700);
  // One set of rings is there from the beginning; the last quarter has room for some others, which become smaller.
  std::vector<StagingRings> all;
  while (const auto rings = process->take_staging_rings()) all.push_back(*rings);
  CHECK_EQ(all.size(), 8);
  CHECK_EQ(all.front()[0]->bytes(), 65536);
  CHECK_EQ(all.back()[0]->bytes(), 16384);
  CHECK(all.front()[0] != all.back()[0]);
  process->return_staging_rings(all.front());
  const auto again = process->take_staging_rings();
  CHECK(again && (*again)[0] == all.front()[0]);
  std::string why;
  CHECK(!Process::create(64 << 10, why));
  CHECK_EQ(why, "there is no memory for the messages of a thread");
}

TEST(a_way_serves_another_peer_once_all_is_read) {
  const auto a = process_of(4 << 20), b = process_of(4 << 20);
  Connection* to_b = a->new_connection(many);
  Connection* to_a = b->new_connection();
  const auto meet = [&](Connection& mine, Process& me, Connection& theirs, Process& other) {
    auto* memory = const_cast<std::byte*>(other.segment().memory());
    const Address at = other.address(theirs);
    const Address back = me.address(mine);
    Process::connect(mine, at, memory, other.segment().doorbell(), 0);
    Process::connect(theirs, back, const_cast<std::byte*>(me.segment().memory()), me.segment().doorbell(), 0);
  };
  meet(*to_b, *a, *to_a, *b);
  for (int l = 0; l < channels; ++l) to_b->out[l].post(0);
  a->retire(to_b);
  for (int l = 0; l < channels; ++l) {
    Connection* other = a->new_connection(many);
    CHECK(other != to_b);
    CHECK(to_a->in[l].next(0));
    to_a->in[l].release(0, to_a->in[l].next(0));
  }
  CHECK(a->new_connection() != to_b);  // it has fewer slots
  Connection* again = a->new_connection(many);
  CHECK(again == to_b);
  meet(*again, *a, *b->new_connection(), *b);
  CHECK_EQ(a->address(*again).start[3], 1);
}

/// Some that travel in the slot, and the longest that do in its room.
Bytes bytes_of(const Outbox& box, std::uint64_t number) {
  const auto room = static_cast<Bytes>(box.channel().room_bytes);
  return number % 2 == 0 && room > 0 ? room - static_cast<Bytes>(number) : static_cast<Bytes>(number % 49);
}

/// Fills all channels of `out` and says how many fragments that were, by channel.
std::vector<std::uint64_t> filled(Connection& out) {
  std::vector<std::uint64_t> sent;
  for (Outbox& box : out.out) {
    for (sent.push_back(0); !box.full(); ++sent.back()) {
      const Bytes bytes = bytes_of(box, sent.back());
      CHECK(bytes <= box.most_inline());
      box.next().bytes = static_cast<std::uint32_t>(bytes);
      box.next().carried = Carried::inlined;
      std::fill_n(box.place(bytes), bytes, static_cast<std::byte>(sent.back()));
      box.post(0);
    }
  }
  return sent;
}

TEST(a_connection_may_have_many_slots_or_rooms) {
  const auto a = process_of(4 << 20), b = process_of(4 << 20);
  const Capacity few, roomy{few_slots, 256}, spacious{few_slots, 1024};
  for (const Capacity& capacity : {few, many, many, roomy, spacious, roomy}) {  // some are used again
    Connection* to_b = a->new_connection(capacity);
    CHECK_EQ(to_b->out[0].most_inline(), std::max<Bytes>(capacity.room, 48));
    CHECK_EQ(to_b->out[1].most_inline(), 48);
    Connection* to_a = b->new_connection();
    auto* memory = const_cast<std::byte*>(a->segment().memory());
    Process::connect(*to_a, a->address(*to_b), memory, a->segment().doorbell(), 0);
    for (int turn = 0; turn < 3; ++turn) {
      const std::vector<std::uint64_t> sent = filled(*to_b);
      for (std::size_t l = 0; l < channels; ++l) {
        CHECK_EQ(sent[l], l == 0 ? capacity.slots : few_slots);
        for (std::uint64_t read = 0; read < sent[l]; ++read) {
          const Fragment fragment = to_a->in[l].next(0);
          CHECK(fragment);
          const auto bytes = static_cast<std::size_t>(bytes_of(to_b->out[l], read));
          const std::vector<std::byte> content(fragment.content, fragment.content + fragment.bytes);
          CHECK(content == std::vector<std::byte>(bytes, static_cast<std::byte>(read)));
          to_a->in[l].release(0, fragment);
        }
      }
    }
    a->retire(to_b);
  }
}

TEST(a_board_is_taken_again_when_all_have_read_it) {
  const auto segment = segment_of(1 << 20);
  Boards boards(*segment);
  Board* first = boards.take(3);
  CHECK(segment->offset(first->addresses() + Boards::first_places) <= 4096);
  first->addresses()[1].channels = 640;
  CHECK_EQ(first->addresses()[2].channels, -1);
  Board* other = boards.take(3);
  CHECK(other != first);
  boards.give_back(first, 2);
  boards.give_back(other, 0);
  CHECK(boards.take(3) == other);  // the first one has not been read
  CHECK_EQ(read_address(*first, 1).channels, 640);
  first->notice = 1;
  finish_reading(*first);
  finish_reading(*first);
  CHECK(boards.take(Boards::first_places + 1) != first);  // too small
  CHECK(boards.take(2) == first);
  CHECK_EQ(first->addresses()[1].channels, -1);
  CHECK_EQ(first->notice.load(), 0);
  CHECK(!boards.take(1 << 20));
}

TEST(processes_meet_by_their_boards) {
  const auto a = process_of(4 << 20), b = process_of(4 << 20);
  Refusal refusal;
  Connection* to_b = a->new_connection(b->segment().handle(), refusal);
  Connection* to_a = b->new_connection(a->segment().handle(), refusal);
  CHECK(to_a && to_b);
  CHECK(to_a->follows != to_b->follows);
  Board *of_a = a->boards().take(2), *of_b = b->boards().take(2);
  of_a->addresses()[1] = a->address(*to_b);
  of_b->addresses()[0] = b->address(*to_a);
  of_a->notice = 5;
  Board& seen_by_b = b->board_of(*to_a, a->segment().offset(of_a));
  CHECK_EQ(seen_by_b.notice.load(), 5);
  a->connect(*to_b, a->board_of(*to_b, b->segment().offset(of_b)), 0);
  b->connect(*to_a, seen_by_b, 1);
  finish_reading(seen_by_b);
  CHECK_EQ(of_a->read.load(), 1);
  to_b->out[0].post(0);
  CHECK(to_a->in[0].next(0));
}

bool is_mapped_twice(Process& process) {
  std::ifstream maps("/proc/self/maps");
  struct stat found{};
  fstat(static_cast<int>(process.segment().handle().file), &found);
  int times = 0;
  for (std::string line; std::getline(maps, line);)
    times += line.find("memfd:stretto") != std::string::npos &&
             line.find(' ' + std::to_string(found.st_ino) + ' ') != std::string::npos;
  return times > 1;
}

TEST(a_segment_is_mapped_as_long_as_there_are_ways_to_it) {
  const auto a = process_of(4 << 20), b = process_of(4 << 20);
  Refusal refusal;
  Connection* first = a->new_connection(b->segment().handle(), refusal);
  Connection* second = a->new_connection(b->segment().handle(), refusal);
  CHECK(first && second && is_mapped_twice(*b));
  Connection* back = b->new_connection(a->segment().handle(), refusal);
  Board* board = b->boards().take(1);
  board->addresses()[0] = b->address(*back);
  a->connect(*first, a->board_of(*first, b->segment().offset(board)), 0);
  CHECK(!a->peer_died(*first));
  a->retire(second);
  CHECK(is_mapped_twice(*b));
  a->retire(first);
  CHECK(!is_mapped_twice(*b));
  while (a->new_connection(b->segment().handle(), refusal)) {
  }
  CHECK(refusal.full);
}

}  // namespace
}  // namespace stretto::transport::shm::shm_test

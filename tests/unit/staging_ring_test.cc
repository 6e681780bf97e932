// SPDX-License-Identifier: BSD-3-Clause
//
// A staging ring with messages that go around the whole of it, which is more than may be in use at once.
#include <sys/resource.h>

#include <deque>
#include <random>
#include <vector>

#include "support/test.hpp"
#include "transport/shm/staging_ring.hpp"

namespace stretto::transport::shm::staging_ring_test {
namespace {

/// Reads fragments, in the order in which they were sent, when it is told to.
struct Reader {
  alignas(cache_line) std::byte lines[bytes_of_channels({})]{};
  Channel channel = channel_at(reinterpret_cast<Slot*>(lines), 0, {});
  Outbox box;
  std::uint64_t sent = 0;
  std::uint64_t read = 0;

  Reader() { box.open(channel, 0); }
  void add_to(StagingRing& ring, std::uint64_t owner, bool is_last) { ring.add_reference(box, ++sent, owner, is_last); }
  void release() { channel.receipts->credits = ++read; }
};

constexpr Bytes size = 1024, whole = 4096;
alignas(cache_line) std::byte memory[whole];

TEST(messages_go_around_the_whole_or_begin_again) {
  StagingRing ring(memory, size, nullptr, whole);
  CHECK(ring.may_go_around() && ring.bytes() == size);
  Reader reader;
  const auto place_of = [&](bool around) {
    const std::byte* at = ring.take(128, around);
    reader.add_to(ring, 1, true);
    reader.release();
    return at - memory;
  };
  for (int turn = 0; turn < 2; ++turn)
    for (Bytes at = 0; at < whole; at += 128) CHECK_EQ(place_of(true), at);
  CHECK_EQ(place_of(true), 0);
  for (int turn = 0; turn < 3; ++turn)
    for (Bytes at = turn == 0 ? 128 : 0; at < size / 2; at += 128) CHECK_EQ(place_of(false), at);
}

TEST(the_ring_begins_again_only_where_all_was_read) {
  StagingRing ring(memory, size);
  Reader reader;
  const auto take = [&](bool again) {
    const std::byte* at = ring.take(128, false, again);
    reader.add_to(ring, 1, true);
    return at - memory;
  };
  CHECK_EQ(take(true), 0);
  CHECK_EQ(take(true), 128);
  reader.release();
  CHECK_EQ(take(true), 256);
  for (int i = 0; i < 2; ++i) reader.release();
  CHECK_EQ(take(false), 384);
  reader.release();
  CHECK_EQ(take(true), 0);
}

TEST(no_page_is_new_where_all_were_written) {
  constexpr Bytes large = 64 << 10;
  std::vector<std::byte> memory_of_large(static_cast<std::size_t>(large), std::byte{1});
  StagingRing ring(memory_of_large.data(), large);
  Reader reader;
  std::byte* first = ring.take(8192);
  CHECK(ring.has_new_pages());
  reader.add_to(ring, 1, true);
  ring.write_pages();
  for (int i = 0; i < 8192; ++i) CHECK(first[i] == std::byte{1});  // it is still to be read
  for (int i = 0; i < 6; ++i) {
    CHECK(ring.take(8192) && !ring.has_new_pages());
    reader.add_to(ring, 1, true);
  }
}

/// How far into the memory so many messages of 128 bytes get, of which the first `unread` are never read.
Bytes furthest_of_short(int messages, int unread) {
  constexpr Bytes large = 256 << 10;
  std::vector<std::byte> memory_of_large(static_cast<std::size_t>(large));
  StagingRing ring(memory_of_large.data(), large);
  Reader reader;
  Bytes furthest = 0;
  for (int i = 0; i < messages; ++i) {
    furthest = std::max<Bytes>(furthest, ring.take(128) - memory_of_large.data());
    reader.add_to(ring, 1, true);
    if (i >= unread) reader.release();
  }
  return furthest;
}

TEST(short_messages_use_little_of_the_memory) {
  CHECK_EQ(furthest_of_short(1000, 0), (8 << 10) - 128);
  CHECK_EQ(furthest_of_short(1000, 1), 999 * 128);  // what has not been read stays where it is
}

TEST(no_more_is_in_use_than_without_the_longer_part) {
  StagingRing ring(memory, size, nullptr, whole);
  Reader reader;
  for (int i = 0; i < 4; ++i) {
    CHECK(ring.take(256, true) != nullptr);
    reader.add_to(ring, 1, true);
  }
  CHECK(!ring.take(64, true));
  reader.release();
  CHECK(ring.take(256, true) == memory + size);
}

TEST(without_memory_for_the_whole_messages_begin_again) {
  std::string why;
  const auto segment = Segment::create(4 << 20, why);
  if (!segment) return test::fail(__FILE__, __LINE__, why);
  std::byte* const at = segment->reserve(1 << 20);
  StagingRing ring(at, 256 << 10, segment.get(), 1 << 20);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit less{static_cast<rlim_t>(segment->offset(at) + (512 << 10)), before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &less);
  Reader reader;
  for (int i = 0; i < 100; ++i) {
    CHECK(ring.take(100 << 10, ring.may_go_around()) != nullptr);
    reader.add_to(ring, 1, true);
    reader.release();
  }
  CHECK(!ring.may_go_around());
  setrlimit(RLIMIT_FSIZE, &before);
}

struct Chunk {
  Bytes begin, end;
  int reader;
  std::uint64_t number;
};

/// Chunks of any size, in both ways, some detached: no two that are in use may overlap.
void run(std::uint32_t seed) {
  std::minstd_rand random(seed);
  const auto some = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  StagingRing ring(memory, size, nullptr, whole);
  Reader readers[2];
  std::deque<Chunk> used;
  for (int turn = 0; turn < 20000; ++turn) {
    std::erase_if(used, [&](const Chunk& c) { return readers[c.reader].read >= c.number; });
    const int which = some(8) == 0;
    if (some(3) == 0 || used.size() > 20) {
      if (Reader& reader = readers[which]; reader.read < reader.sent) reader.release();
      if (some(40) == 0) ring.detach_others(1);
      continue;
    }
    const Bytes bytes = StagingRing::rounded(1 + some(some(2) ? 64 : 400));
    std::byte* const at = ring.take(bytes, some(2) == 0, some(3) == 0);
    if (!at) continue;
    const Chunk taken{at - memory, at - memory + bytes, which, readers[which].sent + 1};
    CHECK(taken.begin >= 0 && taken.end <= whole);
    for (const Chunk& c : used) CHECK(taken.end <= c.begin || c.end <= taken.begin);
    readers[which].add_to(ring, static_cast<std::uint64_t>(which) + 1, true);
    used.push_back(taken);
  }
}

TEST(what_is_in_use_is_left_alone) {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) run(seed);
}

}  // namespace
}  // namespace stretto::transport::shm::staging_ring_test

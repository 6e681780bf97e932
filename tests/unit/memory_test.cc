// SPDX-License-Identifier: BSD-3-Clause
#include "support/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "support/test.hpp"
#include "transport/shm/kernel_copy.hpp"

namespace memory_test {
namespace {

using namespace stretto;

/// `copy` from every address that is a multiple of `alignment` into every one.
void check_copy(void (*copy)(void*, const void*, Bytes), std::size_t alignment) {
  constexpr std::size_t room = 640;
  alignas(64) unsigned char from[room];
  std::vector<unsigned char> to(room);
  for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<unsigned char>(i % 251);
  for (const std::size_t source : {0, 1, 13, 64}) {
    if (source % alignment != 0) continue;
    for (std::size_t target = 0; target < 65; ++target) {
      for (const std::size_t n : {0, 1, 63, 64, 65, 127, 128, 129, 500}) {
        std::fill(to.begin(), to.end(), 255);
        copy(to.data() + target, from + source, static_cast<Bytes>(n));
        for (std::size_t i = 0; i < room; ++i) {
          const bool inside = i >= target && i < target + n;
          CHECK_EQ(int{to[i]}, inside ? int{from[source + i - target]} : 255);
        }
      }
    }
  }
}

TEST(streaming_copies_touch_the_target_only) { check_copy(copy_non_temporal, 1); }

TEST(copies_by_lines_touch_the_target_only) { check_copy(copy_lines, 1); }

/// Two copies of the same bytes at all places where `rep movsb` might be slow, whole pages and parts of lines.
TEST(copies_and_those_by_the_kernel_are_right_wherever_both_lie) {
  constexpr std::size_t room = 40000, page = 4096;
  std::vector<unsigned char> from(room), to(room + 2 * page);
  for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<unsigned char>(i % 251);
  unsigned char* const alike = to.data() + bytes_behind(from.data(), to.data());
  for (const std::size_t distance : {0, 1, 8, 15, 16, 63, 64}) {
    for (const std::size_t n : {2047, 2048, 16384, 40000}) {
      for (const int way : {0, 1, 2}) {
        std::ranges::fill(to, 255);
        unsigned char* target = alike + distance;
        CHECK_EQ(bytes_behind(target, from.data()), distance);
        auto* t = reinterpret_cast<std::byte*>(target);
        const auto* f = reinterpret_cast<const std::byte*>(from.data());
        if (way == 0) copy_bytes(t, f, static_cast<Bytes>(n));
        if (way == 1)
          CHECK_EQ(transport::shm::kernel_read(getpid(), t, f, static_cast<Bytes>(n)), static_cast<Bytes>(n));
        if (way == 2)
          CHECK_EQ(transport::shm::kernel_write(getpid(), t, f, static_cast<Bytes>(n)), static_cast<Bytes>(n));
        CHECK(std::equal(target, target + n, from.begin()));
        CHECK(std::all_of(target + n, to.data() + to.size(), [](unsigned char c) { return c == 255; }));
      }
    }
  }
}

TEST(moved_bytes_may_overlap) {
  for (const int distance : {-2000, -8, 0, 8, 2000, 4104}) {
    std::vector<unsigned char> both(20000);
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = static_cast<unsigned char>(i % 251);
    const std::vector<unsigned char> before = both;
    move_bytes(both.data() + 6000 + distance, both.data() + 6000, 8000);
    CHECK(std::equal(before.begin() + 6000, before.begin() + 14000, both.begin() + 6000 + distance));
  }
}

TEST(a_copy_takes_no_longer_where_the_target_begins_just_behind_the_source_in_its_page) {
  constexpr Bytes bytes = 65536, page = 4096;
  std::vector<std::byte> memory(2 * bytes + 2 * page);
  std::byte* const from = memory.data() + page - reinterpret_cast<std::uintptr_t>(memory.data()) % page;
  const std::array<Bytes, 5> behind{128, 1, 8, 16, 40};    // the first is far enough
  std::array<double, behind.size()> least{1, 1, 1, 1, 1};  // seconds
  for (int round = 0; round < 200; ++round) {              // by turns: a core's speed changes with what others do
    for (std::size_t i = 0; i < behind.size(); ++i) {
      const auto begun = std::chrono::steady_clock::now();
      copy_bytes(from + bytes + behind[i], from, bytes);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
      least[i] = std::min(least[i], seconds);
    }
  }
  // `rep movsb` takes 20 times as long. Within the first cache, stores across lines alone take twice.
  for (const double one : least) CHECK(one < 8 * least[0]);
}

TEST(the_last_cache_is_not_the_first) {
  CHECK(last_level_cache() > sysconf(_SC_LEVEL1_DCACHE_SIZE));
  CHECK(last_level_cache() >= sysconf(_SC_LEVEL2_CACHE_SIZE));
}

}  // namespace
}  // namespace memory_test

// SPDX-License-Identifier: BSD-3-Clause
#include "support/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "support/test.hpp"

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

TEST(the_last_cache_is_not_the_first) {
  CHECK(last_level_cache() > sysconf(_SC_LEVEL1_DCACHE_SIZE));
  CHECK(last_level_cache() >= sysconf(_SC_LEVEL2_CACHE_SIZE));
}

}  // namespace
}  // namespace memory_test

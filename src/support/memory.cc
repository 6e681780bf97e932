// SPDX-License-Identifier: BSD-3-Clause
#include "support/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "support/non_temporal.hpp"

namespace stretto {

void copy_non_temporal(void* to, const void* from, Bytes bytes) {
  auto* t = static_cast<char*>(to);
  const auto* f = static_cast<const char*>(from);
  const char* end = f + bytes;
  const std::size_t before_line = (line_size - reinterpret_cast<std::uintptr_t>(to) % line_size) % line_size;
  const std::size_t head = std::min(before_line, static_cast<std::size_t>(bytes));
  std::memcpy(t, f, head);
  t += head, f += head;
  if (end - f >= static_cast<std::ptrdiff_t>(line_size)) {
    for (; end - f >= static_cast<std::ptrdiff_t>(line_size); t += line_size, f += line_size)
      store_line_non_temporal(t, f);
    finish_non_temporal();
  }
  std::memcpy(t, f, static_cast<std::size_t>(end - f));
}

void copy_lines(void* to, const void* from, Bytes bytes) {
  auto* t = static_cast<char*>(to);
  const auto* f = static_cast<const char*>(from);
  const char* end = f + bytes;
  for (; end - f >= static_cast<std::ptrdiff_t>(line_size); t += line_size, f += line_size) copy_line(t, f);
  std::memcpy(t, f, static_cast<std::size_t>(end - f));
}

Bytes last_level_cache() {
  static const Bytes size = [] {
    for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
      if (const long found = sysconf(level); found > 0) return Bytes{found};
    return Bytes{32} << 20;
  }();
  return size;
}

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#include "support/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "support/non_temporal.hpp"

namespace stretto {
namespace {

#if defined(__x86_64__)
[[gnu::target("avx2")]] void copy_lines_avx2(char* to, const char* from, std::ptrdiff_t lines) {
  auto* t = reinterpret_cast<__m256i*>(to);
  const auto* f = reinterpret_cast<const __m256i*>(from);
  for (; lines > 0; --lines, t += 2, f += 2) {
    const __m256i low = _mm256_loadu_si256(f), high = _mm256_loadu_si256(f + 1);
    _mm256_storeu_si256(t, low);
    _mm256_storeu_si256(t + 1, high);
  }
}

const bool has_avx2 = __builtin_cpu_supports("avx2");
#endif

}  // namespace

void move_bytes(void* to, const void* from, Bytes bytes) {
  const auto distance = reinterpret_cast<std::intptr_t>(to) - reinterpret_cast<std::intptr_t>(from);
  if (std::abs(distance) < bytes)
    std::memmove(to, from, static_cast<std::size_t>(bytes));
  else
    copy_bytes(to, from, bytes);
}

void copy_non_temporal(void* to, const void* from, Bytes bytes) {
  auto* t = static_cast<char*>(to);
  const auto* f = static_cast<const char*>(from);
  const char* end = f + bytes;
  const std::size_t before_line = (line_size - reinterpret_cast<std::uintptr_t>(to) % line_size) % line_size;
  const std::size_t head = std::min(before_line, static_cast<std::size_t>(bytes));
  std::memcpy(t, f, head);
  t += head, f += head;
  if (end - f >= static_cast<std::ptrdiff_t>(line_size)) {
    for (; end - f >= static_cast<std::ptrdiff_t>(line_size); t += line_size, f += line_size) copy_line<true>(t, f);
    finish_non_temporal();
  }
  std::memcpy(t, f, static_cast<std::size_t>(end - f));
}

void copy_lines(void* to, const void* from, Bytes bytes) {
  constexpr auto line = static_cast<std::ptrdiff_t>(line_size);
  auto* t = static_cast<char*>(to);
  const auto* f = static_cast<const char*>(from);
  const std::ptrdiff_t lines = bytes / line;
#if defined(__x86_64__)
  if (has_avx2)
    copy_lines_avx2(t, f, lines);
  else
#endif
    for (std::ptrdiff_t i = 0; i < lines; ++i) copy_line<false>(t + i * line, f + i * line);
  std::memcpy(t + lines * line, f + lines * line, static_cast<std::size_t>(bytes % line));
}

Bytes own_cache() {
  static const Bytes size = [] {
    const long found = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return found > 0 ? Bytes{found} : Bytes{1} << 20;
  }();
  return size;
}

Bytes last_level_cache() {
  // A virtual machine with few cores may be told of all the cache of its host, most of which others use.
  static const Bytes size = [] {
    constexpr Bytes of_a_core = Bytes{32} << 20;  // no processor has more
    const Bytes most = of_a_core * std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L);
    for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
      if (const long found = sysconf(level); found > 0) return std::min(Bytes{found}, most);
    return of_a_core;
  }();
  return size;
}

}  // namespace stretto

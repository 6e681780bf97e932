// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stretto/types.hpp"

namespace stretto {

/// From this many bytes on, memcpy and the kernel may copy by `rep movsb`.
inline constexpr Bytes least_by_string = 2048;

/// How far `to` begins behind `from`, if both are seen modulo a page of 4 KiB. `rep movsb` stores 20 times as slowly
/// from 1 to 15 bytes on, and up to twice as slowly to 63 (AMD Zen 4; glibc avoids it there from 2.39 on, bug 30994).
inline std::uintptr_t bytes_behind(const void* to, const void* from) {
  return (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % 4096;
}

/// memcpy from lines that another core has just written: if `from` is aligned to 64 bytes it reads each line once.
/// memcpy goes by lines of the target and may read most lines twice, which takes longer where they are not in this
/// core's cache. Never by `rep movsb`.
void copy_lines(void* to, const void* from, Bytes bytes);

/// memcpy that is as fast wherever the two lie.
inline void copy_bytes(void* to, const void* from, Bytes bytes) {
  if (bytes >= least_by_string && bytes_behind(to, from) - 1 < 63)
    copy_lines(to, from, bytes);
  else
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

/// Asks for the cache lines of memory that is to be written soon and that another core has read. A store that has to
/// wait for such a line holds up all stores behind it.
inline void prefetch_to_write(const std::byte* memory, Bytes bytes) {
  for (Bytes at = 0; at < bytes; at += 64) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0"
                 :
                 : "m"(memory[at]));  // for which __builtin_prefetch asks only where all processors have it
#else
    __builtin_prefetch(memory + at, 1);
#endif
  }
}

/// memmove likewise.
void move_bytes(void* to, const void* from, Bytes bytes);

/// memcpy that leaves nothing of the target in the cache: for targets larger than that, read by nobody soon. Finished
/// on return like any other store.
void copy_non_temporal(void* to, const void* from, Bytes bytes);
/// By the one or the other.
inline void copy_bytes(void* to, const void* from, Bytes bytes, bool non_temporal) {
  non_temporal ? copy_non_temporal(to, from, bytes) : copy_bytes(to, from, bytes);
}

/// Size of the largest cache, shared by cores or not; an assumption where the system does not tell.
Bytes last_level_cache();
/// What a core has for itself.
Bytes own_cache();

}  // namespace stretto

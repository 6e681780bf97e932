// SPDX-License-Identifier: BSD-3-Clause
//
// Stores that bypass the cache. An ordinary store first reads the line it writes to; where the target is larger than
// the cache and not in it, that is a third of the memory traffic of a reduction, and two thirds of a copy's out of the
// cache.
//
// Units built for other instruction sets include this: what is here is inlined always, and stores as wide as they may.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace stretto {

#if defined(__SSE2__)
inline constexpr bool has_non_temporal = true;
#else
inline constexpr bool has_non_temporal = false;
#endif

/// Bytes that are stored at once, and to which their address is aligned.
inline constexpr std::size_t line_size = 64;

/// Copies a line, of which `from` need not be aligned. `to` is, where the store is to be `non_temporal`: others may
/// then see the line in any order until `finish_non_temporal`.
template <bool non_temporal>
[[gnu::always_inline]] static inline void copy_line(void* to, const void* from) {
#if defined(__AVX2__)
  auto* t = static_cast<__m256i*>(to);
  const auto* f = static_cast<const __m256i*>(from);
  const __m256i low = _mm256_loadu_si256(f), high = _mm256_loadu_si256(f + 1);
  non_temporal ? _mm256_stream_si256(t, low) : _mm256_storeu_si256(t, low);
  non_temporal ? _mm256_stream_si256(t + 1, high) : _mm256_storeu_si256(t + 1, high);
#elif defined(__SSE2__)
  auto* t = static_cast<__m128i*>(to);
  const auto* f = static_cast<const __m128i*>(from);
  const __m128i a = _mm_loadu_si128(f), b = _mm_loadu_si128(f + 1), c = _mm_loadu_si128(f + 2),
                d = _mm_loadu_si128(f + 3);
  non_temporal ? _mm_stream_si128(t, a) : _mm_storeu_si128(t, a);
  non_temporal ? _mm_stream_si128(t + 1, b) : _mm_storeu_si128(t + 1, b);
  non_temporal ? _mm_stream_si128(t + 2, c) : _mm_storeu_si128(t + 2, c);
  non_temporal ? _mm_stream_si128(t + 3, d) : _mm_storeu_si128(t + 3, d);
#else
  std::memcpy(to, from, line_size);
#endif
}

[[gnu::always_inline]] static inline void finish_non_temporal() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
//
// Floating-point numbers of 16 bits. Sums and products are computed as float and rounded to the nearest, ties to even,
// which is what rounding the exact result once gives: a float has more than twice their bits. Part of kernels_impl.hpp:
// compiled once per instruction set.
#pragma once

#include <type_traits>

#include "reduce/element.hpp"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace stretto::reduce {
namespace {

inline std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
inline float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// Conversions without branches; those of the processor give the same bits.
template <typename Format>
struct Conversion;

template <>
struct Conversion<Float16> {
  static constexpr std::uint16_t infinity = 0x7c00;

#if defined(__F16C__)
  static float widen(std::uint16_t x) { return _cvtsh_ss(x); }
  static std::uint16_t narrow(float x) { return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT); }
#else
  static constexpr std::uint32_t bias = 127 - 15;  // of a float's exponent against ours

  static float widen(std::uint16_t x) {
    const std::uint32_t magnitude = x & 0x7fffu;
    const std::uint32_t shifted = magnitude << 13;
    const std::uint32_t least = (bias + 1) << 23;  // the least normal number
    const std::uint32_t subnormal = bits_of(float_of(least | shifted) - float_of(least));
    const std::uint32_t normal = shifted + (bias << 23) + (magnitude >= infinity ? bias << 23 : 0);
    return float_of((magnitude < 0x400 ? subnormal : normal) | (x & 0x8000u) << 16);
  }

  static std::uint16_t narrow(float x) {
    const std::uint32_t magnitude = bits_of(x) & 0x7fffffff;
    const std::uint32_t normal = (magnitude - (bias << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const std::uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);  // rounded by the sum
    const std::uint32_t special = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x3ff) : infinity;
    const std::uint32_t finite = magnitude < (bias + 1) << 23 ? subnormal : normal;
    const std::uint32_t result = magnitude < (bias + 31) << 23 ? finite : special;
    return static_cast<std::uint16_t>(result | (bits_of(x) >> 16 & 0x8000));
  }
#endif
};

template <>
struct Conversion<BFloat16> {
  static constexpr std::uint16_t infinity = 0x7f80;

  static float widen(std::uint16_t x) { return float_of(std::uint32_t{x} << 16); }

  static std::uint16_t narrow(float x) {
    const std::uint32_t bits = bits_of(x);
    const std::uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    return static_cast<std::uint16_t>((x != x ? bits | 0x400000 : rounded) >> 16);
  }
};

#if defined(__F16C__)
/// As many elements as vectors hold; how many those were. GCC 12 has no vector conversions of its own.
template <Op op>
Count vectors_of_f16(const Cell<std::uint16_t>* l, const Cell<std::uint16_t>* r, Cell<std::uint16_t>* t, Count n) {
  Count i = 0;
  const auto half = [&](Count at) {
    const __m256 a = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(l + at)));
    const __m256 b = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(r + at)));
    return _mm256_cvtps_ph(op == Op::sum ? a + b : a * b, _MM_FROUND_TO_NEAREST_INT);
  };
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(t + i), _mm256_set_m128i(half(i + 8), half(i)));
  return i;
}
#endif

template <Op op, typename Format>
struct ShortFloats {
  static constexpr int size = 2;

  [[gnu::always_inline]] static void run(const void* left, const void* right, void* target, Count n) {
    using Its = Conversion<Format>;
    const auto* l = static_cast<const Cell<std::uint16_t>*>(left);
    const auto* r = static_cast<const Cell<std::uint16_t>*>(right);
    auto* t = static_cast<Cell<std::uint16_t>*>(target);
    Count first = 0;
#if defined(__F16C__)
    if constexpr (std::is_same_v<Format, Float16>) first = vectors_of_f16<op>(l, r, t, n);
#endif
#pragma GCC ivdep
    for (Count i = first; i < n; ++i)
      t[i].element = Its::narrow(combine<op>(Its::widen(l[i].element), Its::widen(r[i].element)));
  }
};

/// Minimum and maximum of the bits as integers: not through float, to have twice as many in a vector.
template <Op op, typename Format>
struct ShortFloatOrder {
  static constexpr int size = 2;

  static std::int16_t magnitude(std::int16_t x) { return static_cast<std::int16_t>(x & 0x7fff); }
  /// Ordered as the numbers are; both zeros are 0.
  static std::int16_t key(std::int16_t x) {
    const auto sign = static_cast<std::int16_t>(x >> 15);
    return static_cast<std::int16_t>((magnitude(x) ^ sign) - sign);
  }

  [[gnu::always_inline]] static void run(const void* left, const void* right, void* target, Count n) {
    constexpr auto infinity = static_cast<std::int16_t>(Conversion<Format>::infinity);
    const auto* l = static_cast<const Cell<std::int16_t>*>(left);
    const auto* r = static_cast<const Cell<std::int16_t>*>(right);
    auto* t = static_cast<Cell<std::int16_t>*>(target);
#pragma GCC ivdep
    for (Count i = 0; i < n; ++i) {
      const std::int16_t a = l[i].element, b = r[i].element;
      const bool numbers = (magnitude(a) <= infinity) & (magnitude(b) <= infinity);
      const bool wins = op == Op::min ? key(a) < key(b) : key(a) > key(b);
      t[i].element = wins & numbers ? a : b;
    }
  }
};

}  // namespace
}  // namespace stretto::reduce

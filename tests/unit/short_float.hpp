// SPDX-License-Identifier: BSD-3-Clause
//
// Floating-point numbers of 16 bits, by the book: computed as double, in which sums and products of two are exact or
// far from a tie, and rounded there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace stretto::test {

template <int fraction_bits>
struct ShortFloat {
  static constexpr int one = 1 << fraction_bits;
  static constexpr int infinity = 0x8000 - one;
  static constexpr int least_exponent = 2 - (1 << (14 - fraction_bits));  // of a normal number

  std::uint16_t bits;

  double value() const {
    const int magnitude = bits & 0x7fff;
    const int exponent = magnitude / one;
    double v = std::ldexp(magnitude % one, least_exponent - fraction_bits);
    if (exponent > 0) v = std::ldexp(one + magnitude % one, least_exponent + exponent - 1 - fraction_bits);
    if (magnitude == infinity) v = std::numeric_limits<double>::infinity();
    if (magnitude > infinity) v = std::numeric_limits<double>::quiet_NaN();
    return bits & 0x8000 ? -v : v;
  }

  static ShortFloat nearest(double v) {
    const int sign = std::signbit(v) ? 0x8000 : 0;
    if (std::isnan(v)) return {0x7fff};
    if (std::isinf(v)) return {static_cast<std::uint16_t>(sign + infinity)};
    const int exponent = v == 0 ? least_exponent : std::max(std::ilogb(v), least_exponent);
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(std::fabs(v), fraction_bits - exponent)));
    const int magnitude = (exponent - least_exponent) * one + units;  // a carry goes to the exponent
    return {static_cast<std::uint16_t>(sign + std::min(magnitude, infinity))};
  }

  friend ShortFloat operator+(ShortFloat a, ShortFloat b) { return nearest(a.value() + b.value()); }
  friend ShortFloat operator*(ShortFloat a, ShortFloat b) { return nearest(a.value() * b.value()); }
  friend bool operator<(ShortFloat a, ShortFloat b) { return a.value() < b.value(); }
  friend bool operator>(ShortFloat a, ShortFloat b) { return a.value() > b.value(); }
};

using Float16 = ShortFloat<10>;
using BFloat16 = ShortFloat<7>;

}  // namespace stretto::test

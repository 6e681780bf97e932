// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>

#include "stretto/types.hpp"

namespace stretto::patterns {

inline int floor_log2(Rank n) { return std::bit_width(static_cast<std::uint32_t>(n)) - 1; }
inline int ceil_log2(Rank n) { return std::bit_width(static_cast<std::uint32_t>(n) - 1); }
inline Rank floor_power_of_two(Rank n) { return Rank{1} << floor_log2(n); }
inline bool is_power_of_two(Rank n) { return (n & (n - 1)) == 0; }

inline Rank modulo(Rank n, Rank p) {
  const Rank m = n % p;
  return m < 0 ? m + p : m;
}

}  // namespace stretto::patterns

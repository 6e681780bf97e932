// SPDX-License-Identifier: BSD-3-Clause
//
// One element in memory, and one operation. Part of kernels_impl.hpp: compiled once per instruction set.
#pragma once

#include <type_traits>

#include "reduce/definitions.hpp"

namespace stretto::reduce {
namespace {

/// An element anywhere in memory: users' buffers need not be aligned, nor have the type we see in them.
template <typename T>
struct [[gnu::packed, gnu::may_alias]] Cell {
  T element;
};

template <int bytes>
  requires(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)
using UnsignedOf = std::conditional_t<bytes <= 2, std::conditional_t<bytes == 1, std::uint8_t, std::uint16_t>,
                                      std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>;
template <typename T>
using Unsigned = UnsignedOf<sizeof(T)>;

// Unsigned integers of less than 32 bits would be promoted to int, whose products overflow.
constexpr std::uint32_t wide(std::uint8_t x) { return x; }
constexpr std::uint32_t wide(std::uint16_t x) { return x; }
template <typename T>
constexpr T wide(T x) {
  return x;
}

template <Op op, typename T>
T combine(T a, T b) {
  if constexpr (op == Op::sum) return static_cast<T>(wide(a) + wide(b));
  if constexpr (op == Op::prod) return static_cast<T>(wide(a) * wide(b));
  if constexpr (op == Op::min) return a < b ? a : b;
  if constexpr (op == Op::max) return a > b ? a : b;
  if constexpr (op == Op::land) return static_cast<T>((a != 0) & (b != 0));
  if constexpr (op == Op::lor) return static_cast<T>((a | b) != 0);
  if constexpr (op == Op::lxor) return static_cast<T>((a != 0) != (b != 0));
  if constexpr (op == Op::band) return static_cast<T>(a & b);
  if constexpr (op == Op::bor) return static_cast<T>(a | b);
  if constexpr (op == Op::bxor) return static_cast<T>(a ^ b);
}

}  // namespace
}  // namespace stretto::reduce

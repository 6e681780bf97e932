// SPDX-License-Identifier: BSD-3-Clause
//
// One element in memory, and one operation. Part of kernels_impl.hpp: compiled once per instruction set.
#pragma once

#include "reduce/definitions.hpp"

namespace stretto::reduce {
namespace {

/// An element anywhere in memory: users' buffers need not be aligned, nor have the type we see in them.
template <typename T>
struct [[gnu::packed, gnu::may_alias]] Cell {
  T element;
};

template <int bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = std::uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = std::uint64_t;
};
template <typename T>
using Unsigned = typename UnsignedOf<sizeof(T)>::type;

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

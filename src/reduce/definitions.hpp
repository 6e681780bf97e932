// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of types, and which operator is defined on which of them.
//
// Units built for other instruction sets include this: whatever is here must leave no code behind (types, constants
// and consteval functions only), lest the linker keep AVX code where baseline code is wanted.
#pragma once

#include <cstdint>

#include "reduce/kernels.hpp"

namespace stretto::reduce {

/// The classes of MPI 4.1, section 6.9.2.
enum class Class : std::uint8_t { none, integer, floating, complex, logical, byte, pair };

struct Nothing {};

template <typename Part>
struct Complex {
  Part real, imaginary;
};

/// Bits of IEEE 754's binary16, and of a float's upper half.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

template <typename Value, typename Index>
struct Pair {
  Value value;
  Index index;
};

/// STRETTO_TYPE(name in Type, its class, what an element is in memory), in the order of Type.
#define STRETTO_REDUCE_TYPES                                    \
  STRETTO_TYPE(none, none, Nothing)                             \
  STRETTO_TYPE(i8, integer, std::int8_t)                        \
  STRETTO_TYPE(i16, integer, std::int16_t)                      \
  STRETTO_TYPE(i32, integer, std::int32_t)                      \
  STRETTO_TYPE(i64, integer, std::int64_t)                      \
  STRETTO_TYPE(u8, integer, std::uint8_t)                       \
  STRETTO_TYPE(u16, integer, std::uint16_t)                     \
  STRETTO_TYPE(u32, integer, std::uint32_t)                     \
  STRETTO_TYPE(u64, integer, std::uint64_t)                     \
  STRETTO_TYPE(f16, floating, Float16)                          \
  STRETTO_TYPE(bf16, floating, BFloat16)                        \
  STRETTO_TYPE(f32, floating, float)                            \
  STRETTO_TYPE(f64, floating, double)                           \
  STRETTO_TYPE(f80, floating, long double)                      \
  STRETTO_TYPE(c32, complex, Complex<float>)                    \
  STRETTO_TYPE(c64, complex, Complex<double>)                   \
  STRETTO_TYPE(c80, complex, Complex<long double>)              \
  STRETTO_TYPE(bool8, logical, std::uint8_t)                    \
  STRETTO_TYPE(logical8, logical, std::uint8_t)                 \
  STRETTO_TYPE(logical16, logical, std::uint16_t)               \
  STRETTO_TYPE(logical32, logical, std::uint32_t)               \
  STRETTO_TYPE(logical64, logical, std::uint64_t)               \
  STRETTO_TYPE(byte, byte, std::uint8_t)                        \
  STRETTO_TYPE(f32_i32, pair, Pair<float, std::int32_t>)        \
  STRETTO_TYPE(f64_i32, pair, Pair<double, std::int32_t>)       \
  STRETTO_TYPE(f80_i32, pair, Pair<long double, std::int32_t>)  \
  STRETTO_TYPE(i16_i32, pair, Pair<std::int16_t, std::int32_t>) \
  STRETTO_TYPE(i32_i32, pair, Pair<std::int32_t, std::int32_t>) \
  STRETTO_TYPE(i64_i32, pair, Pair<std::int64_t, std::int32_t>) \
  STRETTO_TYPE(f32_f32, pair, Pair<float, float>)               \
  STRETTO_TYPE(f64_f64, pair, Pair<double, double>)

/// `class_of` and `Element` of a type.
template <Type type>
struct Definition;

#define STRETTO_TYPE(name, its_class, ...)              \
  template <>                                           \
  struct Definition<Type::name> {                       \
    static constexpr Class class_of = Class::its_class; \
    using Element = __VA_ARGS__;                        \
  };
STRETTO_REDUCE_TYPES
#undef STRETTO_TYPE

/// MPI's table, and beyond it nothing but that C and Fortran integers, bits alike, take the operators of both.
consteval bool is_defined(Op op, Class on) {
  switch (op) {
    case Op::none: return false;
    case Op::sum:
    case Op::prod: return on == Class::integer || on == Class::floating || on == Class::complex;
    case Op::min:
    case Op::max: return on == Class::integer || on == Class::floating;
    case Op::land:
    case Op::lor:
    case Op::lxor: return on == Class::integer || on == Class::logical;
    case Op::band:
    case Op::bor:
    case Op::bxor: return on == Class::integer || on == Class::byte;
    case Op::minloc:
    case Op::maxloc: return on == Class::pair;
  }
  return false;
}

}  // namespace stretto::reduce

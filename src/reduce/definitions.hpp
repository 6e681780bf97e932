// SPDX-License-Identifier: BSD-3-Clause
//
// What the types are in memory, and which operator is defined on which of them.
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

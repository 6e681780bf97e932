// SPDX-License-Identifier: BSD-3-Clause
//
// The predefined operators on the predefined types.
#pragma once

#include <string_view>

#include "stretto/types.hpp"

namespace stretto::reduce {

/// What the bits mean, whatever the language calls the type (MPI_INT, MPI_INTEGER and MPI_INT32_T are `i32`).
/// A pair is a C struct {value, index} with C's padding.
// clang-format off
enum class Type : std::uint8_t {
  none,
  i8, i16, i32, i64,
  u8, u16, u32, u64,
  f16, bf16,            ///< binary16, and the upper half of an f32: rounded after every operation, ties to even
  f32, f64, f80,        ///< f80: long double, 16 bytes apart
  c32, c64, c80,        ///< complex of the line above
  bool8,                ///< C and C++ bool
  logical8, logical16, logical32, logical64,  ///< Fortran: any non-zero value is true
  byte,                 ///< bitwise operators only
  f32_i32, f64_i32, f80_i32, i16_i32, i32_i32, i64_i32,  ///< for minloc and maxloc
  f32_f32, f64_f64,     ///< Fortran's 2REAL and 2DOUBLE PRECISION
};
// clang-format on
inline constexpr int type_count = static_cast<int>(Type::f64_f64) + 1;

enum class Op : std::uint8_t { none, sum, prod, min, max, land, lor, lxor, band, bor, bxor, minloc, maxloc };
inline constexpr int op_count = static_cast<int>(Op::maxloc) + 1;

/// target[i] = left[i] op right[i] for i < n. `target` may be `left` or `right` but not overlap them otherwise.
/// Integers wrap around. Equal values give the smaller index (minloc, maxloc).
using Kernel = void (*)(const void* left, const void* right, void* target, Count n);

/// Where results go. `non_temporal`: past the cache into memory, for a target that is not in the cache and too large
/// for it; an ordinary kernel where that brings nothing. The bits are the same.
enum class Stores : std::uint8_t { cached, non_temporal };
inline constexpr int store_kinds = static_cast<int>(Stores::non_temporal) + 1;

/// Null where MPI does not define `op` on `type` (MPI 4.1, section 6.9.2).
Kernel kernel(Op op, Type type, Stores stores = Stores::cached);

std::string_view name_of(Op op);
std::string_view name_of(Type type);
Bytes size_of(Type type);  ///< distance of two elements in bytes, padding included

}  // namespace stretto::reduce

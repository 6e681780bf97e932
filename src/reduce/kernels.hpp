// SPDX-License-Identifier: BSD-3-Clause
//
// The predefined operators on the predefined types.
#pragma once

#include <span>
#include <string_view>

#include "stretto/types.hpp"

namespace stretto::reduce {

/// The one list of types. STRETTO_TYPE(name in Type, its class, what an element is in memory): see definitions.hpp.
#define STRETTO_REDUCE_TYPES                                                                \
  STRETTO_TYPE(none, none, Nothing)                                                         \
  STRETTO_TYPE(i8, integer, std::int8_t)                                                    \
  STRETTO_TYPE(i16, integer, std::int16_t)                                                  \
  STRETTO_TYPE(i32, integer, std::int32_t)                                                  \
  STRETTO_TYPE(i64, integer, std::int64_t)                                                  \
  STRETTO_TYPE(u8, integer, std::uint8_t)                                                   \
  STRETTO_TYPE(u16, integer, std::uint16_t)                                                 \
  STRETTO_TYPE(u32, integer, std::uint32_t)                                                 \
  STRETTO_TYPE(u64, integer, std::uint64_t)                                                 \
  /* binary16, and the upper half of an f32: rounded after every operation, ties to even */ \
  STRETTO_TYPE(f16, floating, Float16)                                                      \
  STRETTO_TYPE(bf16, floating, BFloat16)                                                    \
  STRETTO_TYPE(f32, floating, float)                                                        \
  STRETTO_TYPE(f64, floating, double)                                                       \
  /* long double, 16 bytes apart */                                                         \
  STRETTO_TYPE(f80, floating, long double)                                                  \
  STRETTO_TYPE(c32, complex, Complex<float>)                                                \
  STRETTO_TYPE(c64, complex, Complex<double>)                                               \
  STRETTO_TYPE(c80, complex, Complex<long double>)                                          \
  /* C and C++ */                                                                           \
  STRETTO_TYPE(bool8, logical, std::uint8_t)                                                \
  /* Fortran: any non-zero value is true */                                                 \
  STRETTO_TYPE(logical8, logical, std::uint8_t)                                             \
  STRETTO_TYPE(logical16, logical, std::uint16_t)                                           \
  STRETTO_TYPE(logical32, logical, std::uint32_t)                                           \
  STRETTO_TYPE(logical64, logical, std::uint64_t)                                           \
  /* bitwise operators only */                                                              \
  STRETTO_TYPE(byte, byte, std::uint8_t)                                                    \
  /* for minloc and maxloc: C structs {value, index} with C's padding */                    \
  STRETTO_TYPE(f32_i32, pair, Pair<float, std::int32_t>)                                    \
  STRETTO_TYPE(f64_i32, pair, Pair<double, std::int32_t>)                                   \
  STRETTO_TYPE(f80_i32, pair, Pair<long double, std::int32_t>)                              \
  STRETTO_TYPE(i16_i32, pair, Pair<std::int16_t, std::int32_t>)                             \
  STRETTO_TYPE(i32_i32, pair, Pair<std::int32_t, std::int32_t>)                             \
  STRETTO_TYPE(i64_i32, pair, Pair<std::int64_t, std::int32_t>)                             \
  /* Fortran's 2REAL and 2DOUBLE PRECISION */                                               \
  STRETTO_TYPE(f32_f32, pair, Pair<float, float>)                                           \
  STRETTO_TYPE(f64_f64, pair, Pair<double, double>)

/// What the bits mean, whatever the language calls the type (MPI_INT, MPI_INTEGER and MPI_INT32_T are `i32`).
enum class Type : std::uint8_t {
#define STRETTO_TYPE(name, ...) name,
  STRETTO_REDUCE_TYPES
#undef STRETTO_TYPE
};
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

// The kernels are compiled for several instruction sets. All variants give the same bits.

struct Table {
  Kernel at[store_kinds][op_count * type_count];  ///< null where the operator is not defined on the type

  Kernel operator()(Op op, Type type, Stores stores = Stores::cached) const {
    return at[static_cast<int>(stores)][static_cast<int>(op) * type_count + static_cast<int>(type)];
  }
};

/// One for each instruction set; the last two on x86-64 alone.
extern const Table baseline_table, avx2_table, avx512_table;

struct Variant {
  std::string_view name;
  const Table* table;
  bool supported;  ///< by this processor
};

/// Every variant of this build, the fastest last. The first one, "baseline", is always supported.
std::span<const Variant> variants();

}  // namespace stretto::reduce

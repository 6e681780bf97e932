// SPDX-License-Identifier: BSD-3-Clause
//
// Every kernel of every variant against a scalar reference, for all ways in which the buffers may coincide.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "reduce/kernels.hpp"
#include "short_float.hpp"
#include "support/non_temporal.hpp"
#include "support/test.hpp"

namespace reduce_test {
namespace {

using namespace stretto;
using namespace stretto::reduce;

// What MPI 4.1 says in section 6.9.2, written down a second time.
using Ops = std::set<Op>;
const Ops c_integer = {Op::sum, Op::prod, Op::min, Op::max, Op::land, Op::lor, Op::lxor, Op::band, Op::bor, Op::bxor};
const Ops floating = {Op::sum, Op::prod, Op::min, Op::max};
const Ops complex = {Op::sum, Op::prod};
const Ops logical = {Op::land, Op::lor, Op::lxor};
const Ops bytes_only = {Op::band, Op::bor, Op::bxor};
const Ops pair = {Op::minloc, Op::maxloc};

struct Expected {
  Type type;
  std::string_view name;
  Bytes size;
  const Ops& ops;
};
const Expected expected[] = {
    {Type::none, "none", 0, {}},
    {Type::i8, "i8", 1, c_integer},
    {Type::i16, "i16", 2, c_integer},
    {Type::i32, "i32", 4, c_integer},
    {Type::i64, "i64", 8, c_integer},
    {Type::u8, "u8", 1, c_integer},
    {Type::u16, "u16", 2, c_integer},
    {Type::u32, "u32", 4, c_integer},
    {Type::u64, "u64", 8, c_integer},
    {Type::f16, "f16", 2, floating},
    {Type::bf16, "bf16", 2, floating},
    {Type::f32, "f32", 4, floating},
    {Type::f64, "f64", 8, floating},
    {Type::f80, "f80", 16, floating},
    {Type::c32, "c32", 8, complex},
    {Type::c64, "c64", 16, complex},
    {Type::c80, "c80", 32, complex},
    {Type::bool8, "bool8", 1, logical},
    {Type::logical8, "logical8", 1, logical},
    {Type::logical16, "logical16", 2, logical},
    {Type::logical32, "logical32", 4, logical},
    {Type::logical64, "logical64", 8, logical},
    {Type::byte, "byte", 1, bytes_only},
    {Type::f32_i32, "f32_i32", 8, pair},
    {Type::f64_i32, "f64_i32", 16, pair},
    {Type::f80_i32, "f80_i32", 32, pair},
    {Type::i16_i32, "i16_i32", 8, pair},
    {Type::i32_i32, "i32_i32", 8, pair},
    {Type::i64_i32, "i64_i32", 16, pair},
    {Type::f32_f32, "f32_f32", 8, pair},
    {Type::f64_f64, "f64_f64", 16, pair},
};

const Op all_ops[] = {Op::none, Op::sum,  Op::prod, Op::min,  Op::max,    Op::land,  Op::lor,
                      Op::lxor, Op::band, Op::bor,  Op::bxor, Op::minloc, Op::maxloc};

template <typename V, typename I>
struct Located {
  V value;
  I index;
};

std::mt19937_64 engine(2005);

// Values: often equal, often zero, sometimes extreme.
template <typename T>
void draw(T& x) {
  const auto bits = engine();
  if constexpr (std::is_integral_v<T>) {
    x = static_cast<T>(bits % 3 == 0 ? (bits >> 8) % 4 : bits >> 8);
    if (bits % 31 == 1) x = std::numeric_limits<T>::min();
    if (bits % 31 == 2) x = std::numeric_limits<T>::max();
  } else {
    x = static_cast<T>((static_cast<double>(bits >> 40) - 8e6) / 7);
    if (bits % 3 == 0) x = static_cast<T>((bits >> 8) % 4) - T(1);
    if (bits % 61 == 1) x = std::numeric_limits<T>::infinity();
    if (bits % 61 == 2) x = std::numeric_limits<T>::quiet_NaN();
    if (bits % 61 == 3) x = -T(0);
    if (bits % 61 == 4) x = std::numeric_limits<T>::denorm_min();
  }
}
template <int fraction_bits>
void draw(test::ShortFloat<fraction_bits>& x) {
  const auto bits = engine();
  x.bits = static_cast<std::uint16_t>(bits >> 8);
  if (bits % 3 == 0) x = x.nearest(static_cast<double>((bits >> 8) % 4) - 1);
}
template <typename T>
void draw(std::complex<T>& x) {
  T parts[2];
  draw(parts[0]), draw(parts[1]);
  x = {parts[0], parts[1]};
}
template <typename V, typename I>
void draw(Located<V, I>& x) {
  draw(x.value), draw(x.index);
}

__extension__ using Wide = unsigned __int128;

template <typename T>
T reference(Op op, T a, T b) {
  if (op == Op::min) return a < b ? a : b;
  if (op == Op::max) return a > b ? a : b;
  if constexpr (std::is_integral_v<T>) {
    const Wide x = static_cast<Wide>(a), y = static_cast<Wide>(b);
    switch (op) {
      case Op::sum: return static_cast<T>(x + y);
      case Op::prod: return static_cast<T>(x * y);
      case Op::land: return a && b ? 1 : 0;
      case Op::lor: return a || b ? 1 : 0;
      case Op::lxor: return !a != !b ? 1 : 0;
      case Op::band: return static_cast<T>(x & y);
      case Op::bor: return static_cast<T>(x | y);
      default: return static_cast<T>(x ^ y);
    }
  } else {
    return op == Op::sum ? a + b : a * b;
  }
}
template <typename T>
std::complex<T> reference(Op op, std::complex<T> a, std::complex<T> b) {
  if (op == Op::sum) return {a.real() + b.real(), a.imag() + b.imag()};
  // Volatile, lest the compiler fuse a product with the sum: that would round once less.
  const volatile T rr = a.real() * b.real(), ii = a.imag() * b.imag();
  const volatile T ri = a.real() * b.imag(), ir = a.imag() * b.real();
  return {rr - ii, ri + ir};
}
template <typename V, typename I>
Located<V, I> reference(Op op, Located<V, I> a, Located<V, I> b) {
  if (a.value == b.value) return a.index <= b.index ? a : b;
  if (op == Op::minloc) return a.value < b.value ? a : b;
  return a.value > b.value ? a : b;
}

// Equal bits, padding left aside; every NaN is as good as another.
template <typename T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b && std::signbit(a) == std::signbit(b);
  } else {
    return a == b;
  }
}
template <int fraction_bits>
bool same(test::ShortFloat<fraction_bits> a, test::ShortFloat<fraction_bits> b) {
  return a.bits == b.bits || (std::isnan(a.value()) && std::isnan(b.value()));
}
template <typename T>
bool same(std::complex<T> a, std::complex<T> b) {
  return same(a.real(), b.real()) && same(a.imag(), b.imag());
}
template <typename V, typename I>
bool same(Located<V, I> a, Located<V, I> b) {
  return same(a.value, b.value) && same(a.index, b.index);
}

// n elements somewhere in memory, between guards.
template <typename T>
class Elements {
 public:
  Elements(Count n, std::size_t offset) : n_(static_cast<std::size_t>(n)), offset_(guard + offset) {
    memory_.assign(offset_ + n_ * sizeof(T) + guard, std::byte{0xA5});
  }
  void draw_all() {
    for (std::size_t i = 0; i < n_; ++i) {
      T x;
      draw(x);
      std::memcpy(start() + i * sizeof(T), &x, sizeof(T));
    }
  }
  T operator[](std::size_t i) const {
    T x;
    std::memcpy(&x, memory_.data() + offset_ + i * sizeof(T), sizeof(T));
    return x;
  }
  std::byte* start() { return memory_.data() + offset_; }
  bool guards_stand() const {
    const auto untouched = [](std::byte b) { return b == std::byte{0xA5}; };
    return std::all_of(memory_.begin(), memory_.begin() + static_cast<std::ptrdiff_t>(offset_), untouched) &&
           std::all_of(memory_.end() - guard, memory_.end(), untouched);
  }
  bool operator==(const Elements&) const = default;

 private:
  static constexpr int guard = 64;
  std::size_t n_, offset_;
  std::vector<std::byte> memory_;
};

enum class Target { distinct, is_left, is_right, is_both };

template <typename T>
bool right_result(Op op, Kernel kernel, Count n, std::size_t offset, Target where) {
  Elements<T> left(n, offset), right(n, offset + sizeof(T)), other(n, offset + 3 * sizeof(T));
  left.draw_all(), right.draw_all(), other.draw_all();
  const Elements<T> l = left, r = where == Target::is_both ? left : right;
  Elements<T>& second = where == Target::is_both ? left : right;
  Elements<T>& target = where == Target::distinct ? other : where == Target::is_right ? right : left;

  kernel(left.start(), second.start(), target.start(), n);

  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    if (!same(target[i], reference(op, l[i], r[i]))) return false;
  }
  const bool left_stands = &target == &left || left == l;
  const bool right_stands = &target == &second || right == r;
  return left_stands && right_stands && target.guards_stand();
}

template <typename T>
void check_kernel(Op op, Kernel kernel, std::size_t alignment, const std::string& name) {
  for (const Count n : {0, 1, 2, 3, 7, 16, 17, 31, 64, 1000}) {
    for (const std::size_t offset : {std::size_t{0}, alignment, 3 * alignment, std::size_t{1}}) {
      for (const Target where : {Target::distinct, Target::is_left, Target::is_right, Target::is_both}) {
        if (right_result<T>(op, kernel, n, offset, where)) continue;
        test::fail(__FILE__, __LINE__,
                   name + ", n = " + std::to_string(n) + ", offset " + std::to_string(offset) + ", target " +
                       std::to_string(static_cast<int>(where)));
      }
    }
  }
}

// Runs all kernels of a type in all variants; `alignment` is the least that a user's buffer has.
template <typename T>
void check_type(Type type, std::size_t alignment = alignof(T)) {
  for (const Variant& variant : variants()) {
    if (!variant.supported) continue;
    for (const Op op : all_ops) {
      for (const Stores stores : {Stores::cached, Stores::non_temporal}) {
        const Kernel kernel = (*variant.table)(op, type, stores);
        if (kernel == nullptr) continue;
        const std::string name = std::string(name_of(op)) + " of " + std::string(name_of(type)) + ", " +
                                 std::string(variant.name) + (stores == Stores::non_temporal ? ", non-temporal" : "");
        check_kernel<T>(op, kernel, alignment, name);
      }
    }
  }
}

TEST(integers) {
  check_type<std::int8_t>(Type::i8);
  check_type<std::int16_t>(Type::i16);
  check_type<std::int32_t>(Type::i32);
  check_type<std::int64_t>(Type::i64);
  check_type<std::uint8_t>(Type::u8);
  check_type<std::uint16_t>(Type::u16);
  check_type<std::uint32_t>(Type::u32);
  check_type<std::uint64_t>(Type::u64);
}

// With every number on the left.
template <typename T>
void check_all_numbers(Type type) {
  std::vector<std::uint16_t> left(1 << 16), target(left.size());
  std::iota(left.begin(), left.end(), std::uint16_t{0});
  for (const int number :
       {0, 0x8000, 1, 0x8003, 0x3ff, 0x3c01, T::infinity - 1, T::infinity + 0x8000, 0x7fff, 0x3f81}) {
    const std::vector<std::uint16_t> right(left.size(), static_cast<std::uint16_t>(number));
    for (const Op op : floating) {
      for (const Variant& variant : variants()) {
        if (!variant.supported) continue;
        (*variant.table)(op, type)(left.data(), right.data(), target.data(), 1 << 16);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < left.size(); ++i)
          wrong += same(T{target[i]}, reference(op, T{left[i]}, T{right[i]})) ? 0 : 1;
        CHECK_EQ(wrong, std::size_t{0});
      }
    }
  }
}

TEST(short_floats) {
  check_type<test::Float16>(Type::f16);
  check_type<test::BFloat16>(Type::bf16);
  check_all_numbers<test::Float16>(Type::f16);
  check_all_numbers<test::BFloat16>(Type::bf16);
}

TEST(floating_point) {
  check_type<float>(Type::f32);
  check_type<double>(Type::f64);
  check_type<long double>(Type::f80);
}

TEST(complex_numbers) {
  check_type<std::complex<float>>(Type::c32);
  check_type<std::complex<double>>(Type::c64);
  check_type<std::complex<long double>>(Type::c80);
}

TEST(logicals_and_bytes) {
  check_type<std::uint8_t>(Type::bool8);
  check_type<std::uint8_t>(Type::logical8);
  check_type<std::uint16_t>(Type::logical16);
  check_type<std::uint32_t>(Type::logical32);
  check_type<std::uint64_t>(Type::logical64);
  check_type<std::uint8_t>(Type::byte);
}

TEST(pairs) {
  check_type<Located<float, std::int32_t>>(Type::f32_i32);
  check_type<Located<double, std::int32_t>>(Type::f64_i32);
  check_type<Located<long double, std::int32_t>>(Type::f80_i32);
  check_type<Located<std::int16_t, std::int32_t>>(Type::i16_i32);
  check_type<Located<std::int32_t, std::int32_t>>(Type::i32_i32);
  check_type<Located<std::int64_t, std::int32_t>>(Type::i64_i32);
  check_type<Located<float, float>>(Type::f32_f32);
  check_type<Located<double, double>>(Type::f64_f64);
}

TEST(padding_does_not_decide) {
  const Located<double, std::int32_t> left{2.0, 5}, right{2.0, 4};
  for (const Variant& variant : variants()) {
    if (!variant.supported) continue;
    for (const Op op : {Op::minloc, Op::maxloc}) {
      for (const int padding : {0x00, 0x7F, 0xFF}) {
        std::byte a[16], b[16], t[16];
        std::memset(a, padding, 16);
        std::memset(b, 0xFF - padding, 16);
        std::memcpy(a, &left.value, 8), std::memcpy(a + 8, &left.index, 4);
        std::memcpy(b, &right.value, 8), std::memcpy(b + 8, &right.index, 4);
        (*variant.table)(op, Type::f64_i32)(a, b, t, 1);
        std::int32_t index;
        std::memcpy(&index, t + 8, 4);
        CHECK_EQ(index, 4);
      }
    }
  }
}

TEST(defined_as_mpi_says) {
  CHECK_EQ(std::size(expected), std::size_t{type_count});
  CHECK_EQ(std::size(all_ops), std::size_t{op_count});
  for (const Expected& e : expected) {
    for (const Op op : all_ops) {
      const bool defined = e.ops.contains(op);
      if ((kernel(op, e.type) != nullptr) != defined) {
        test::fail(__FILE__, __LINE__, std::string(name_of(op)) + " of " + std::string(e.name));
      }
      for (const Variant& variant : variants()) {
        CHECK_EQ((*variant.table)(op, e.type) != nullptr, defined);
        CHECK_EQ((*variant.table)(op, e.type, Stores::non_temporal) != nullptr, defined);
      }
    }
  }
}

TEST(names_and_sizes) {
  std::set<std::string_view> types, ops;
  for (const Expected& e : expected) {
    CHECK_EQ(name_of(e.type), e.name);
    CHECK_EQ(size_of(e.type), e.size);
    types.insert(name_of(e.type));
  }
  for (const Op op : all_ops) ops.insert(name_of(op));
  CHECK_EQ(types.size(), std::size_t{type_count});
  CHECK_EQ(ops.size(), std::size_t{op_count});
  CHECK_EQ(name_of(Op::lxor), "lxor");
  CHECK_EQ(name_of(Op::maxloc), "maxloc");
}

TEST(best_supported_variant_is_used) {
  CHECK(variants().front().supported);
  const Table* best = nullptr;
  for (const Variant& variant : variants())
    if (variant.supported) best = variant.table;
  CHECK(kernel(Op::sum, Type::f64) == (*best)(Op::sum, Type::f64));
  CHECK(kernel(Op::sum, Type::f64, Stores::non_temporal) == (*best)(Op::sum, Type::f64, Stores::non_temporal));
  CHECK_EQ(kernel(Op::sum, Type::f64, Stores::non_temporal) != kernel(Op::sum, Type::f64), has_non_temporal);
}

}  // namespace
}  // namespace reduce_test

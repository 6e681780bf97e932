// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels' source, compiled once per instruction set. All of it is internal to the unit that includes it, and it
// calls none of the standard library's inline functions, so that no unit's instructions leak into another's.
//
// The loops are plain: element i of the target depends on elements i of the operands alone, whichever buffers are
// the same, so `ivdep` holds and GCC vectorises without asking whether they overlap.
#pragma once

#include <type_traits>
#include <utility>

#include "reduce/definitions.hpp"
#include "reduce/element.hpp"
#include "reduce/kernels.hpp"
#include "reduce/short_floats.hpp"
#include "support/non_temporal.hpp"

namespace stretto::reduce {
namespace {

template <Op op, typename T, int per_element>
struct Scalars {
  static constexpr int size = per_element * static_cast<int>(sizeof(T));

  [[gnu::always_inline]] static void run(const void* left, const void* right, void* target, Count n) {
    const auto* l = static_cast<const Cell<T>*>(left);
    const auto* r = static_cast<const Cell<T>*>(right);
    auto* t = static_cast<Cell<T>*>(target);
#pragma GCC ivdep
    for (Count i = 0; i < n * per_element; ++i) t[i].element = combine<op, T>(l[i].element, r[i].element);
  }
};

// GCC 12 fuses the products of a vectorised complex product with their sum in spite of -ffp-contract=off, where it can;
// the bits would then depend on the variant.
#if defined(__x86_64__)
#define STRETTO_NOT_FUSED [[gnu::target("no-fma,no-fma4,no-avx512f")]]
#else
#define STRETTO_NOT_FUSED
#endif

/// Written out, because C's own complex product mends infinities and is many times slower.
template <typename Part>
STRETTO_NOT_FUSED void complex_product(const void* left, const void* right, void* target, Count n) {
  const auto* l = static_cast<const Cell<Complex<Part>>*>(left);
  const auto* r = static_cast<const Cell<Complex<Part>>*>(right);
  auto* t = static_cast<Cell<Complex<Part>>*>(target);
#pragma GCC ivdep
  for (Count i = 0; i < n; ++i) {
    const Part a = l[i].element.real, b = l[i].element.imaginary;
    const Part c = r[i].element.real, d = r[i].element.imaginary;
    t[i].element.real = a * c - b * d;
    t[i].element.imaginary = a * d + b * c;
  }
}

template <Op op, typename Value, typename Index>
bool left_wins(Value left, Index left_index, Value right, Index right_index) {
  const bool better = op == Op::minloc ? left < right : left > right;
  return better | ((left == right) & (left_index <= right_index));
}

/// Half a pair: a T and its padding. Moved as one word, and compared without the padding.
template <typename T, typename Word>
struct Half {
  static constexpr int padding = 8 * static_cast<int>(sizeof(Word) - sizeof(T));

  /// Orders words as their T is ordered; as wide as the word, so that one vector mask serves both halves.
  static auto key(Word w) {
    if constexpr (padding == 0) {
      return __builtin_bit_cast(T, w);
    } else {
      static_assert(T(1) / 2 == 0 && T(-1) < 0, "a signed integer");
      if constexpr (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) w >>= padding;
      w <<= padding;
      if constexpr (sizeof(Word) == 8) return static_cast<std::int64_t>(w);
      if constexpr (sizeof(Word) == 4) return static_cast<std::int32_t>(w);
    }
  }
};

template <Op op, typename Value, typename Index>
struct Pairs {
  static constexpr int size = sizeof(Pair<Value, Index>);

  [[gnu::always_inline]] static void run(const void* left, const void* right, void* target, Count n) {
    using Word = UnsignedOf<size / 2>;
    const auto* l = static_cast<const Cell<Word>*>(left);
    const auto* r = static_cast<const Cell<Word>*>(right);
    auto* t = static_cast<Cell<Word>*>(target);
#pragma GCC ivdep
    for (Count i = 0; i < n; ++i) {
      const Word l0 = l[2 * i].element, l1 = l[2 * i + 1].element;
      const Word r0 = r[2 * i].element, r1 = r[2 * i + 1].element;
      using First = Half<Value, Word>;
      using Second = Half<Index, Word>;
      const bool wins = left_wins<op>(First::key(l0), Second::key(l1), First::key(r0), Second::key(r1));
      t[2 * i].element = wins ? l0 : r0;
      t[2 * i + 1].element = wins ? l1 : r1;
    }
  }
};

/// For pairs whose halves are no machine words (long double): selects by address, to have no branch either.
template <Op op, typename Value, typename Index>
void large_pairs(const void* left, const void* right, void* target, Count n) {
  using Element = Cell<Pair<Value, Index>>;
  const auto* l = static_cast<const Element*>(left);
  const auto* r = static_cast<const Element*>(right);
  auto* t = static_cast<Element*>(target);
  for (Count i = 0; i < n; ++i) {
    const bool wins = left_wins<op>(l[i].element.value, l[i].element.index, r[i].element.value, r[i].element.index);
    const Element* winner = wins ? l + i : r + i;
    const Value value = winner->element.value;
    const Index index = winner->element.index;
    t[i].element.value = value;
    t[i].element.index = index;
  }
}

template <typename Loop>
void cached(const void* left, const void* right, void* target, Count n) {
  Loop::run(left, right, target, n);
}

/// Results go from the registers past the cache, a few lines at a time. Not where the target is an operand, whose lines
/// are in the cache by then, nor where no element begins on a line.
template <typename Loop>
void non_temporal(const void* left, const void* right, void* target, Count n) {
  constexpr Count step = 4 * static_cast<Count>(line_size) / Loop::size;
  constexpr auto size = static_cast<std::size_t>(Loop::size);
  const std::size_t before_line = -reinterpret_cast<std::uintptr_t>(target) % line_size;
  const auto head = static_cast<Count>(before_line / size);
  if (target == left || target == right || before_line % size != 0 || n < head + step)
    return cached<Loop>(left, right, target, n);
  const auto* l = static_cast<const char*>(left);
  const auto* r = static_cast<const char*>(right);
  auto* t = static_cast<char*>(target);
  const auto advance = [&](Count elements) {
    const auto bytes = static_cast<std::size_t>(elements) * size;
    l += bytes, r += bytes, t += bytes, n -= elements;
  };
  cached<Loop>(l, r, t, head);
  for (advance(head); n >= step; advance(step)) {
    alignas(line_size) char lines[step * Loop::size];
    Loop::run(l, r, lines, step);
    for (std::size_t at = 0; at < sizeof lines; at += line_size) copy_line<true>(t + at, lines + at);
  }
  finish_non_temporal();
  cached<Loop>(l, r, t, n);
}

struct Kernels {
  Kernel cached = nullptr, non_temporal = nullptr;
};

template <typename Loop>
consteval Kernels both() {
  return {cached<Loop>, has_non_temporal ? non_temporal<Loop> : cached<Loop>};
}
/// Slower than memory whatever the stores are.
consteval Kernels slow(Kernel kernel) { return {kernel, kernel}; }

consteval bool orders(Op op) { return op == Op::min || op == Op::max; }

/// The kernels of an operator on elements T. Integers of one size share the kernels that need no order.
template <Op op, Class on, typename T>
consteval Kernels kernels_of() {
  if constexpr (on == Class::pair) {
    using Value = decltype(T::value);
    using Index = decltype(T::index);
    if constexpr (std::is_same_v<Value, long double>)
      return slow(large_pairs<op, Value, Index>);
    else
      return both<Pairs<op, Value, Index>>();
  } else if constexpr (on == Class::complex) {
    using Part = decltype(T::real);
    if constexpr (op == Op::prod)
      return slow(complex_product<Part>);
    else if constexpr (std::is_same_v<Part, long double>)
      return slow(cached<Scalars<op, Part, 2>>);
    else
      return both<Scalars<op, Part, 2>>();
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return both<std::conditional_t<orders(op), ShortFloatOrder<op, T>, ShortFloats<op, T>>>();
  } else if constexpr (std::is_same_v<T, long double>) {
    return slow(cached<Scalars<op, T, 1>>);
  } else if constexpr (orders(op) || on == Class::floating) {
    return both<Scalars<op, T, 1>>();
  } else {
    return both<Scalars<op, Unsigned<T>, 1>>();
  }
}

template <Stores stores, Op op, Type type>
consteval Kernel chosen() {
  using Its = Definition<type>;
  if constexpr (is_defined(op, Its::class_of)) {
    constexpr Kernels kernels = kernels_of<op, Its::class_of, typename Its::Element>();
    return stores == Stores::cached ? kernels.cached : kernels.non_temporal;
  } else {
    return nullptr;
  }
}

template <int... i>
consteval Table make_table(std::integer_sequence<int, i...>) {
  return {{{chosen<Stores::cached, static_cast<Op>(i / type_count), static_cast<Type>(i % type_count)>()...},
           {chosen<Stores::non_temporal, static_cast<Op>(i / type_count), static_cast<Type>(i % type_count)>()...}}};
}

constexpr Table table = make_table(std::make_integer_sequence<int, op_count * type_count>());

}  // namespace
}  // namespace stretto::reduce

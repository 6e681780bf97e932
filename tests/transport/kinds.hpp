// SPDX-License-Identifier: BSD-3-Clause
//
// Elements and operators to run algorithms on, and buffers that notice every byte that should not have changed.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "execute/element.hpp"

namespace stretto::test {

using Word = std::uint32_t;
using Value = std::array<Word, 4>;

/// An element is some words, each at its own place.
struct Kind {
  std::string_view name;
  int words;
  std::array<Bytes, 4> at;  // of the words
  Bytes extent;
  bool dense;
  bool commutative;
  Value (*op)(const Value&, const Value&);

  Value load(const void* element) const {
    Value v{};
    for (int w = 0; w < words; ++w) std::memcpy(&v[w], static_cast<const char*>(element) + at[w], sizeof(Word));
    return v;
  }
  void store(const Value& v, void* element) const {
    for (int w = 0; w < words; ++w) std::memcpy(static_cast<char*>(element) + at[w], &v[w], sizeof(Word));
  }
  execute::Element element() const;
  execute::Combiner combiner() const;
};

/// What rank `rank` contributes as element `i`.
inline Value contribution(Rank rank, Count i) {
  auto x = static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(i) * 0xbf58476d1ce4e5b9u;
  Value v;
  for (Word& w : v) {
    x ^= x >> 31;
    x *= 0x94d049bb133111ebu;
    w = static_cast<Word>(x >> 32);
  }
  return v;
}

namespace operators {

inline constexpr std::uint64_t prime = 65521;

inline Value sum64(const Value& a, const Value& b) {
  const std::uint64_t low = std::uint64_t{a[0]} + b[0];
  return {static_cast<Word>(low), static_cast<Word>(a[1] + b[1] + (low >> 32))};
}
inline Value sum3(const Value& a, const Value& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

/// Product of 2x2 matrices modulo a prime.
inline Value product(const Value& a, const Value& b) {
  const auto dot = [](std::uint64_t p, std::uint64_t q, std::uint64_t r, std::uint64_t s) {
    return static_cast<Word>(((p % prime) * (q % prime) + (r % prime) * (s % prime)) % prime);
  };
  return {dot(a[0], b[0], a[1], b[2]), dot(a[0], b[1], a[1], b[3]), dot(a[2], b[0], a[3], b[2]),
          dot(a[2], b[1], a[3], b[3])};
}

/// (x -> a0 x + a1) after (x -> b0 x + b1), modulo a prime; the third word is a plain sum.
inline Value compose(const Value& a, const Value& b) {
  const std::uint64_t slope = std::uint64_t{a[0]} % prime * (b[0] % prime) % prime;
  const std::uint64_t start = (std::uint64_t{a[0]} % prime * (b[1] % prime) + a[1]) % prime;
  return {static_cast<Word>(slope), static_cast<Word>(start), a[2] + b[2]};
}

}  // namespace operators

/// The sparse kinds have 12 bytes of value in an extent of 20, of which the first lies before the element's address.
inline constexpr std::array<Bytes, 4> sparse{-5, 1, 8, 0};
inline constexpr Kind kinds[] = {
    {"64-bit sums", 2, {0, 4}, 8, true, true, operators::sum64},
    {"sparse sums", 3, sparse, 20, false, true, operators::sum3},
    {"matrix products", 4, {0, 4, 8, 12}, 16, true, false, operators::product},
    {"sparse compositions", 3, sparse, 20, false, false, operators::compose},
};

namespace detail {

inline const Kind& kind_of(const execute::Element& e) { return *static_cast<const Kind*>(e.type); }

inline void pack(const execute::Element& e, const void* elements, Count n, void* packed) {
  const Kind& kind = kind_of(e);
  for (Count i = 0; i < n; ++i) {
    const Value v = kind.load(static_cast<const char*>(elements) + i * kind.extent);
    std::memcpy(static_cast<char*>(packed) + i * e.size, v.data(), static_cast<std::size_t>(e.size));
  }
}

inline void unpack(const execute::Element& e, const void* packed, Count n, void* elements) {
  const Kind& kind = kind_of(e);
  for (Count i = 0; i < n; ++i) {
    Value v{};
    std::memcpy(v.data(), static_cast<const char*>(packed) + i * e.size, static_cast<std::size_t>(e.size));
    kind.store(v, static_cast<char*>(elements) + i * kind.extent);
  }
}

inline void combine(const execute::Combiner& c, const void* left, const void* right, void* target, Count n) {
  const Kind& kind = *static_cast<const Kind*>(c.context);
  for (Count i = 0; i < n; ++i) {
    const Bytes at = i * kind.extent;
    const Value v =
        kind.op(kind.load(static_cast<const char*>(left) + at), kind.load(static_cast<const char*>(right) + at));
    kind.store(v, static_cast<char*>(target) + at);
  }
}

}  // namespace detail

inline execute::Element Kind::element() const {
  const Bytes word = sizeof(Word);
  return {.size = words * word,
          .extent = extent,
          .lower = at[0],
          .span = at[words - 1] + word - at[0],
          .dense = dense,
          .type = this,
          .pack = detail::pack,
          .unpack = detail::unpack};
}

inline execute::Combiner Kind::combiner() const { return {.combine = detail::combine, .context = this}; }

/// Memory for `n` elements between guards, beside an image of what it must be in the end.
class Guarded {
 public:
  Guarded(const Kind& kind, Count n)
      : kind_(kind),
        image_(static_cast<std::size_t>(2 * guard + n * kind.extent)),
        memory_(static_cast<char*>(from_->allocate(image_.size()))) {
    for (std::size_t i = 0; i < image_.size(); ++i) image_[i] = static_cast<char>(i * 37 + 11);
    std::ranges::copy(image_, memory_);
  }
  ~Guarded() { from_->deallocate(memory_, image_.size()); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  void* at(Count i) { return memory_ + place(i); }
  Value value(Count i) { return kind_.load(at(i)); }
  /// Element `i` is `v` now and in the end.
  void put(Count i, const Value& v) {
    kind_.store(v, at(i));
    expect(i, v);
  }
  /// Element `i` must be `v` in the end.
  void expect(Count i, const Value& v) { kind_.store(v, image_.data() + place(i)); }

  /// The first byte that is not as it must be, counted from element 0; none if all are.
  std::optional<Bytes> wrong_byte() const {
    if (std::memcmp(memory_, image_.data(), image_.size()) == 0) return std::nullopt;
    return std::ranges::mismatch(image_, std::span(memory_, image_.size())).in1 - image_.begin() - guard;
  }

 private:
  static constexpr Bytes guard = 64;
  std::size_t place(Count i) const { return static_cast<std::size_t>(guard + i * kind_.extent); }

  const Kind& kind_;
  std::vector<char> image_;
  std::pmr::memory_resource* from_ = std::pmr::get_default_resource();  // a suite's own
  char* memory_;
};

/// The reduction of all ranks' contributions in rank order, of the first `n` elements.
inline std::vector<Value> reduction_in_rank_order(const Kind& kind, Rank ranks, Count n) {
  std::vector<Value> result;
  for (Count i = 0; i < n; ++i) {
    Value v = contribution(0, i);
    for (Rank r = 1; r < ranks; ++r) v = kind.op(v, contribution(r, i));
    result.push_back(v);
  }
  return result;
}

}  // namespace stretto::test

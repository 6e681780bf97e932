// SPDX-License-Identifier: BSD-3-Clause
//
// What an operation must know of the elements it moves and combines.
#pragma once

#include "stretto/types.hpp"

namespace stretto::execute {

/// One element of the call's type. `dense` elements are `size` bytes that travel as they lie in memory; others are
/// packed for every message and copy, so that the bytes in their holes are neither sent nor touched.
struct Element {
  Bytes size = 1;    ///< in a message
  Bytes extent = 1;  ///< from one element to the next in memory
  Bytes lower = 0;   ///< first byte touched, from the element's address on
  Bytes span = 1;    ///< bytes from the first to the last one touched
  bool dense = true;
  const void* type = nullptr;  ///< for pack and unpack
  void (*pack)(const Element&, const void* elements, Count n, void* packed) = nullptr;
  void (*unpack)(const Element&, const void* packed, Count n, void* elements) = nullptr;
};

/// Bytes that n elements take: from the first byte touched to the last.
constexpr Bytes footprint(const Element& element, Count n) {
  return n > 0 ? (n - 1) * element.extent + element.span : 0;
}

/// target[i] = left[i] ∘ right[i]; `target` may be `left` or `right`.
struct Combiner {
  void (*combine)(const Combiner&, const void* left, const void* right, void* target, Count n) = nullptr;
  const void* context = nullptr;
  const void* element = nullptr;
  /// The same, with non-temporal stores; null: there is nothing better.
  void (*combine_non_temporal)(const Combiner&, const void* left, const void* right, void* target, Count n) = nullptr;
  const void* non_temporal_context = nullptr;
};

}  // namespace stretto::execute

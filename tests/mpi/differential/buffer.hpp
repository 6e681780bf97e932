// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of which every byte is accounted for: values, padding that may change, and holes and guards that may not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model.hpp"

namespace stretto::differential {

class Buffer {
 public:
  /// Room for `n` elements, `offset` steps of the type's alignment from an aligned address. Of these only `results`
  /// elements are compared in the end, and the others may change. Holds a pattern of bytes that stand for nothing.
  Buffer(ModelPointer model, int n, int results, int offset);

  void* address() { return bytes_.data() + origin_; }
  /// Writes the values numbered first, first+1, … of `stream` into `n` elements from element `at` on.
  void fill(int at, int n, Numbers numbers, std::uint64_t stream, std::int64_t first);

  /// The first byte that differs from `expected` where a value stands, or from what it was where none stands.
  std::optional<std::string> difference(const Buffer& expected) const;
  /// The first byte that is not as in `before`, a copy.
  std::optional<std::string> change(const Buffer& before) const;
  /// Changes a byte of a value; false if there is none.
  bool damage();

 private:
  enum class Meaning : std::uint8_t { hole, padding, value };
  std::string describe(std::size_t byte, const Buffer& expected, const char* what) const;
  static char pattern(std::size_t byte) { return static_cast<char>(byte * 89 + 7); }

  ModelPointer model_;
  int elements_;
  std::ptrdiff_t origin_ = 0;
  std::vector<char> bytes_;
  std::vector<Meaning> meaning_;
};

}  // namespace stretto::differential

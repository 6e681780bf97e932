// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of which every byte is accounted for: values, padding that may change, and holes and guards that may not.
#pragma once

#include <algorithm>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include "model.hpp"

namespace stretto::differential {

/// Elements in a row.
struct Area {
  ModelPointer model;
  std::ptrdiff_t at;  ///< of the first element, in bytes from the buffer's address on
  int elements;
};

class Buffer {
 public:
  /// Holds a pattern of bytes that stand for nothing. Its address is `offset` steps of the types' alignment from an
  /// aligned one.
  Buffer(std::vector<Area> areas, int offset);
  /// Empty. What is assigned to it stands in this memory.
  explicit Buffer(std::pmr::memory_resource* memory) : bytes_(memory) {}

  void* address() { return bytes_.data() + origin_; }
  std::size_t areas() const { return areas_.size(); }
  /// Writes the values numbered first, first+1, … of `stream` into the first `n` elements of an area.
  void fill(std::size_t area, int n, Numbers numbers, std::uint64_t stream, std::int64_t first);
  void fill(std::size_t area, Numbers numbers, std::uint64_t stream) {
    fill(area, areas_[area].elements, numbers, stream, 0);
  }

  /// Takes over the bytes of another one of the same areas, in its own memory.
  void take(const Buffer& other) { std::copy(other.bytes_.begin(), other.bytes_.end(), bytes_.begin()); }

  /// The first byte that differs from `expected` where a value stands, or from what it was where none stands.
  std::optional<std::string> difference(const Buffer& expected) const;
  /// The first byte that is not as in `before`, a copy.
  std::optional<std::string> change(const Buffer& before) const;
  /// Changes a byte of a value; false if there is none.
  bool damage();

 private:
  enum class Meaning : std::uint8_t { hole, padding, value };
  std::string describe(std::size_t byte, const Buffer& expected, const char* what) const;
  void mark(const Area& area);
  static char pattern(std::size_t byte) { return static_cast<char>(byte * 89 + 7); }

  std::vector<Area> areas_;
  std::ptrdiff_t origin_ = 0;
  std::pmr::vector<char> bytes_;
  std::vector<Meaning> meaning_;
};

}  // namespace stretto::differential

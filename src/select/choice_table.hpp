// SPDX-License-Identifier: BSD-3-Clause
//
// Choices that were made, found again in little time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "stretto/rules.hpp"

namespace stretto {

/// What follows from the choice for a call, for all calls that differ from it in a range of sizes at most.
template <typename Value>
class ChoiceTable {
 public:
  /// Null if there is none. Others that are added leave it where it is.
  const Value* find(const Call& call) const {
    const auto [begin, end] = choices_.equal_range(kind_of(call));
    const auto found = std::find_if(begin, end, [&](const auto& one) { return one.second.bytes.holds(call.bytes); });
    return found == end ? nullptr : &found->second.value;
  }

  /// `alike` holds `call.bytes`.
  const Value& add(const Call& call, const Between& alike, Value value) {
    return choices_.emplace(kind_of(call), Alike{alike, std::move(value)})->second.value;
  }

  std::size_t size() const { return choices_.size(); }
  void clear() { choices_.clear(); }

 private:
  struct Alike {
    Between bytes;
    Value value;
  };

  /// The number of bits of the size is part of it: sizes far from each other need not be told apart one by one.
  static std::uint64_t kind_of(const Call& call) {
    const auto width = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(call.bytes)));
    return static_cast<std::uint64_t>(call.function) << 48 | static_cast<std::uint64_t>(call.commutative) << 41 |
           static_cast<std::uint64_t>(call.predefined) << 40 | width << 32 |
           static_cast<std::uint32_t>(call.shape.root);
  }

  std::unordered_multimap<std::uint64_t, Alike> choices_;
};

}  // namespace stretto

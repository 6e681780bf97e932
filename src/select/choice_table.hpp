// SPDX-License-Identifier: BSD-3-Clause
//
// Choices that were made, found again within a few nanoseconds.
#pragma once

#include <bit>
#include <deque>
#include <utility>
#include <vector>

#include "stretto/rules.hpp"

namespace stretto {

/// What follows from the choice for a call, for all calls that differ from it in a range of sizes at most.
template <typename Value>
class ChoiceTable {
 public:
  /// Null if there is none. Others that are added leave it where it is.
  const Value* find(const Call& call) const {
    const std::uint64_t kind = kind_of(call);
    for (std::size_t at = slot(kind); at < slots_.size() && slots_[at].kind != 0; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].kind == kind && slots_[at].bytes.holds(call.bytes)) return slots_[at].value;
    return nullptr;
  }

  /// `alike` holds `call.bytes`.
  const Value& add(const Call& call, const Between& alike, Value value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    values_.push_back(std::move(value));
    insert({kind_of(call), alike, &values_.back()});
    return values_.back();
  }

  std::size_t size() const { return values_.size(); }

  void clear() {
    slots_.clear();
    values_.clear();
    used_ = 0;
  }

 private:
  struct Slot {
    std::uint64_t kind = 0;  // 0: free
    Between bytes;
    const Value* value = nullptr;
  };

  /// Never 0. The number of bits of the size is part of it: sizes far from each other need not be told apart one by
  /// one.
  static std::uint64_t kind_of(const Call& call) {
    const auto width = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(call.bytes)));
    return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(call.function) << 48 |
           static_cast<std::uint64_t>(call.commutative) << 41 | static_cast<std::uint64_t>(call.predefined) << 40 |
           width << 32 | static_cast<std::uint32_t>(call.shape.root);
  }
  std::size_t slot(std::uint64_t kind) const {
    return static_cast<std::size_t>(kind * 0x9e3779b97f4a7c15u >> 32) & (slots_.size() - 1);
  }
  void insert(const Slot& s) {
    std::size_t at = slot(s.kind);
    while (slots_[at].kind != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = s;
    ++used_;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 32 : 2 * slots_.size());
    old.swap(slots_);
    used_ = 0;
    for (const Slot& s : old)
      if (s.kind != 0) insert(s);
  }

  std::vector<Slot> slots_;  // a power of two, half of them free
  std::size_t used_ = 0;
  std::deque<Value> values_;
};

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stretto::mpi {

template <typename Handle>
std::uint64_t bits_of(Handle handle) {
  if constexpr (sizeof(Handle) == sizeof(std::uint64_t))
    return reinterpret_cast<std::uint64_t>(handle);
  else
    return static_cast<std::uint64_t>(handle);
}

/// From MPI handles (integers or pointers) to facts: open addressing, filled once, then read only.
template <typename Handle, typename Value, std::size_t capacity>
class HandleTable {
  static_assert((capacity & (capacity - 1)) == 0);

 public:
  struct Entry {
    Handle handle{};
    Value value{};
    bool used = false;
  };

  /// A handle that is there already keeps its value. The entry stays where it is.
  Entry& insert(Handle handle, const Value& value) {
    std::size_t at = slot(handle);
    while (entries_[at].used && entries_[at].handle != handle) at = (at + 1) % capacity;
    if (!entries_[at].used) entries_[at] = {handle, value, true};
    return entries_[at];
  }

  const Value* find(Handle handle) const {
    for (std::size_t at = slot(handle); entries_[at].used; at = (at + 1) % capacity)
      if (entries_[at].handle == handle) return &entries_[at].value;
    return nullptr;
  }

 private:
  static std::size_t slot(Handle handle) {
    return static_cast<std::size_t>(bits_of(handle) * 0x9e3779b97f4a7c15u >> 32) % capacity;
  }

  std::array<Entry, capacity> entries_{};
};

}  // namespace stretto::mpi

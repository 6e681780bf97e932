// SPDX-License-Identifier: BSD-3-Clause
//
// What receivers tell about messages and about fragments in a staging ring, so that their sender chooses what is best
// for both.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "stretto/types.hpp"
#include "transport/shm/probes.hpp"

namespace stretto::transport::shm {

/// Seconds that a byte takes, by class. One thread notes them, others may look.
template <std::size_t classes>
class Costs {
 public:
  /// 0: none has been timed.
  float of(std::size_t its_class) const { return seconds_[its_class].load(std::memory_order_relaxed); }
  void note(std::size_t its_class, float sample) {
    std::atomic<float>& cost = seconds_[its_class];
    cost.store(updated(cost.load(std::memory_order_relaxed), sample), std::memory_order_relaxed);
  }
  void clear() {
    for (auto& cost : seconds_) cost.store(0, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<float>, classes> seconds_{};
};
static_assert(std::atomic<float>::is_always_lock_free);

/// Of sizes that differ by a factor of two: the first class ends at `first_ends`, the last one nowhere.
inline std::size_t class_of(Bytes bytes, Bytes first_ends, std::size_t classes) {
  const auto doublings = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes / first_ends)));
  return std::min(doublings, classes - 1);
}

inline constexpr std::size_t size_classes = 6;  ///< of messages
inline std::size_t size_class(Bytes message) { return class_of(message, 64 << 10, size_classes); }

/// By the size of messages.
class CopyCosts : Costs<size_classes> {
 public:
  using Costs::of, Costs::clear;
  void note(Bytes message, float sample) { Costs::note(size_class(message), sample); }
};

/// What a message takes its receiver, see Operation::note_cost().
struct TakingCosts {
  CopyCosts staged, lent;
};

/// How a fragment in a staging ring was written, see StoreSelector.
enum class StoreMode : std::uint8_t { not_timed, ordinary, non_temporal, around };

/// How a fragment is written.
struct Storing {
  bool non_temporal = false;
  StoreMode timed = StoreMode::not_timed;  ///< by the writer, and to be timed by the reader
  bool typical = true;  ///< it takes as long as later ones: the memory is not new, nothing is tried out
};

inline constexpr std::size_t fragment_classes = 8;
inline std::size_t fragment_class(Bytes fragment) { return class_of(fragment, 2 << 10, fragment_classes); }

/// What it takes a receiver to read, by the way in which it was written and the size of fragments.
class ReadingCosts : Costs<3 * fragment_classes> {
 public:
  float of(StoreMode mode, Bytes fragment) const { return Costs::of(place(mode, fragment)); }
  void note(StoreMode mode, Bytes fragment, float sample) { Costs::note(place(mode, fragment), sample); }
  using Costs::clear;

 private:
  static std::size_t place(StoreMode mode, Bytes fragment) {
    return fragment_class(fragment) * 3 + static_cast<std::size_t>(mode) - 1;
  }
};

}  // namespace stretto::transport::shm

// SPDX-License-Identifier: BSD-3-Clause
//
// What a receiver tells about fragments in a staging ring, so that their writer chooses what is best for both.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "stretto/types.hpp"
#include "transport/shm/probes.hpp"

namespace stretto::transport::shm {

/// How a fragment in a staging ring was written, see StoreSelector.
enum class StoreMode : std::uint8_t { not_timed, ordinary, non_temporal, around };

/// How a fragment is written.
struct Storing {
  bool non_temporal = false;
  StoreMode timed = StoreMode::not_timed;  ///< by the writer, and to be timed by the reader
  bool typical = true;  ///< it takes as long as later ones: the memory is not new, nothing is tried out
};

inline constexpr std::size_t fragment_classes = 8;  ///< sizes that differ by a factor of two

inline std::size_t fragment_class(Bytes fragment) {
  constexpr Bytes first = 1 << 10;
  const auto doublings = std::bit_width(static_cast<std::uint64_t>(fragment / first));
  return std::clamp<std::size_t>(static_cast<std::size_t>(doublings), 1, fragment_classes) - 1;
}

/// Seconds that a receiver takes to read a byte, by the way in which it was written and the size of fragments.
class ReadingCosts {
 public:
  /// 0: none has been timed.
  float of(StoreMode mode, Bytes fragment) const {
    return seconds_[place(mode, fragment)].load(std::memory_order_relaxed);
  }
  void note(StoreMode mode, Bytes fragment, float sample) {
    std::atomic<float>& cost = seconds_[place(mode, fragment)];
    cost.store(updated(cost.load(std::memory_order_relaxed), sample), std::memory_order_relaxed);
  }
  void clear() {
    for (auto& cost : seconds_) cost.store(0, std::memory_order_relaxed);
  }

 private:
  static std::size_t place(StoreMode mode, Bytes fragment) {
    return fragment_class(fragment) * 3 + static_cast<std::size_t>(mode) - 1;
  }

  std::array<std::atomic<float>, 3 * fragment_classes> seconds_{};
};

}  // namespace stretto::transport::shm

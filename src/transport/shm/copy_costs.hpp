// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "stretto/types.hpp"
#include "transport/shm/probes.hpp"

namespace stretto::transport::shm {

inline constexpr std::size_t size_classes = 6;  ///< of messages: sizes that differ by a factor of two

inline std::size_t size_class(Bytes message) {
  constexpr Bytes first_ends = 64 << 10;
  const auto doublings = std::bit_width(static_cast<std::uint64_t>(message / first_ends));
  return std::min(static_cast<std::size_t>(doublings), size_classes - 1);
}

/// Seconds that a byte takes, by the size of messages. One thread notes them, others may look.
class CopyCosts {
 public:
  /// 0: none has been timed.
  float of(std::size_t its_class) const { return seconds_[its_class].load(std::memory_order_relaxed); }
  void note(Bytes message, float sample) {
    std::atomic<float>& cost = seconds_[size_class(message)];
    cost.store(updated(cost.load(std::memory_order_relaxed), sample), std::memory_order_relaxed);
  }
  void clear() {
    for (auto& cost : seconds_) cost.store(0, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<float>, size_classes> seconds_{};
};
static_assert(std::atomic<float>::is_always_lock_free);

/// What a message takes its receiver, see Operation::note_cost().
struct TakingCosts {
  CopyCosts staged, lent;
};

}  // namespace stretto::transport::shm

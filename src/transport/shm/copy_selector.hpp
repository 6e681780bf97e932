// SPDX-License-Identifier: BSD-3-Clause
//
// Is a long message lent, to be copied once by the kernel, or staged, to be copied twice? That depends on what a call
// of the kernel and the transfer of a cache line cost, and on the size of caches; and where the cores of a virtual
// machine lie changes from minute to minute. So both ends time their copies, the receiver tells the sender what its own
// take, and the sender chooses, message by message: a receiver takes them as they come.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>

#include "stretto/types.hpp"
#include "transport/shm/probes.hpp"

namespace stretto::transport::shm {

/// Seconds that a byte takes, by the size of messages. One thread notes them, others may look.
class CopyCosts {
 public:
  static constexpr std::size_t classes = 6;  ///< of sizes that differ by a factor of two

  static std::size_t class_of(Bytes message) {
    constexpr Bytes first_ends = 64 << 10;
    const auto doublings = std::bit_width(static_cast<std::uint64_t>(message / first_ends));
    return std::min(static_cast<std::size_t>(doublings), classes - 1);
  }
  /// 0: none has been timed.
  float of(std::size_t size_class) const { return seconds_[size_class].load(std::memory_order_relaxed); }
  void note(Bytes message, float sample) {
    std::atomic<float>& cost = seconds_[class_of(message)];
    cost.store(updated(cost.load(std::memory_order_relaxed), sample), std::memory_order_relaxed);
  }
  void clear() {
    for (auto& cost : seconds_) cost.store(0, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<float>, classes> seconds_{};
};
static_assert(std::atomic<float>::is_always_lock_free);

/// What a message takes its receiver, see Operation::note_cost().
struct TakingCosts {
  CopyCosts staged, lent;
};

/// At the sender's end of a connection.
class CopySelector {
 public:
  /// Is this message to be lent? `shared`: both ends copy a lent one, and a staged one goes in fragments, so that both
  /// copy at the same time as well: only the first of them is waited for. Else each end has messages of its own to
  /// take.
  bool lends(Bytes message, bool shared, const TakingCosts& taking) {
    const std::size_t size_class = CopyCosts::class_of(message);
    Probes<64>& probes = probes_[size_class];
    probes.next();
    if (probes.alternates()) return probes.turn() % 2 == 1;
    const float pack = packing_.of(size_class), unpack = taking.staged.of(size_class);
    const float by_kernel = taking.lent.of(size_class);
    const bool kernel_is_faster = by_kernel <= unpack + (shared ? pack / fragments : pack);
    return kernel_is_faster != probes.due();
  }
  /// A byte of such a message took so long on its way into the staging ring.
  void packed(Bytes message, float seconds) { packing_.note(message, seconds); }

 private:
  static constexpr float fragments = 4;

  CopyCosts packing_;
  std::array<Probes<64>, CopyCosts::classes> probes_;
};

template <typename Copying>
float seconds_of(Copying copying) {
  const auto begin = std::chrono::steady_clock::now();
  copying();
  return std::chrono::duration<float>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace stretto::transport::shm

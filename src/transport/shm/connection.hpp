// SPDX-License-Identifier: BSD-3-Clause
//
// Two processes of a node, as one of them sees it.
#pragma once

#include <cstring>

#include "transport/shm/format.hpp"
#include "transport/shm/patience.hpp"

namespace stretto::transport::shm {

/// My end of the lane to a peer.
class Outbox {
 public:
  void open(Lane* lane, std::uint64_t start) {
    lane_ = lane;
    sent_ = start;
    taken_.store(start, std::memory_order_relaxed);
  }
  const Lane* lane() const { return lane_; }
  std::uint64_t sent() const { return sent_; }

  bool full() const { return sent_ >= ring && !taken(sent_ - ring + 1); }
  /// Has the peer done with part `number`?
  bool taken(std::uint64_t number) const {
    if (taken_.load(std::memory_order_acquire) >= number) return true;
    const std::uint64_t now = lane_->taken.load(std::memory_order_acquire);
    taken_.store(now, std::memory_order_release);
    return now >= number;
  }

  /// The next line, to be filled and then posted. Not if full().
  Line& next() { return lane_->lines[sent_ % ring]; }
  void post() {
    Line& line = next();
    line.number.store(++sent_, std::memory_order_release);
  }

 private:
  Lane* lane_ = nullptr;
  std::uint64_t sent_ = 0;
  mutable std::atomic<std::uint64_t> taken_{0};  // as far as known; rooms of several threads may ask
};

/// My end of the lane from a peer.
class Inbox {
 public:
  void open(Lane* lane, const std::byte* segment, std::uint64_t start) {
    lane_ = lane;
    segment_ = segment;
    taken_ = start;
  }

  /// The next part, or null if it has not come.
  const Line* next() const {
    const Line& line = lane_->lines[taken_ % ring];
    return line.number.load(std::memory_order_acquire) == taken_ + 1 ? &line : nullptr;
  }
  const std::byte* content(const Line& line) const { return line.inlined ? line.payload : segment_ + line.at; }
  /// The part that next() gave is not needed any more.
  void release() { lane_->taken.store(++taken_, std::memory_order_release); }

 private:
  Lane* lane_ = nullptr;
  const std::byte* segment_ = nullptr;
  std::uint64_t taken_ = 0;
};

struct Connection {
  Outbox out[lanes];
  Inbox in[lanes];
  Bell* bell = nullptr;  ///< the peer's

  bool drained() const {
    for (const Outbox& box : out)
      if (!box.taken(box.sent())) return false;
    return true;
  }
};

}  // namespace stretto::transport::shm

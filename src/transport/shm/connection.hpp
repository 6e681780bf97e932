// SPDX-License-Identifier: BSD-3-Clause
//
// Two processes of a node, as one of them sees it.
#pragma once

#include <cstring>

#include "transport/shm/format.hpp"
#include "transport/shm/patience.hpp"
#include "transport/shm/segment.hpp"

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
    taken_ = given_back_ = start;
  }

  /// The next part, or null if it has not come.
  const Line* next() {
    const Line& line = lane_->lines[taken_ % ring];
    if (line.number.load(std::memory_order_acquire) != taken_ + 1) {
      waited_ = true;
      return nullptr;
    }
    // The sender is ahead: what it has written comes while this part is worked on.
    if (!waited_) __builtin_prefetch(&lane_->lines[(taken_ + 1) % ring]);
    return &line;
  }
  const std::byte* content(const Line& line) const { return line.inlined ? line.payload : segment_ + line.at; }
  /// The part that next() gave is not needed any more. Inlined ones are given back in groups: a sender that runs ahead
  /// would wait for the line of `taken` once for each. False: not given back yet.
  bool release(const Line& line) {
    waited_ = false;
    const bool whole_group = ++taken_ % group == 0;
    if (line.inlined && !whole_group) return false;
    given_back_ = taken_;
    lane_->taken.store(taken_, std::memory_order_release);
    return true;
  }
  /// Gives back the rest. Where there is none, the sender may use the lane for another peer already, or be gone.
  void close() {
    if (taken_ != given_back_) lane_->taken.store(taken_, std::memory_order_release);
    given_back_ = taken_;
    lane_ = nullptr;
  }

 private:
  Lane* lane_ = nullptr;
  const std::byte* segment_ = nullptr;
  std::uint64_t taken_ = 0;
  std::uint64_t given_back_ = 0;
  bool waited_ = false;  // for this part
};

struct Connection {
  Outbox out[lanes];
  Inbox in[lanes];
  Bell* bell = nullptr;  ///< the peer's
  Token peer{};          ///< of its segment

  /// The last use of it on this side.
  void close() {
    for (Inbox& box : in) box.close();
    bell = nullptr;
  }
  /// Has the peer closed it, or given all back?
  bool drained() const {
    for (const Outbox& box : out)
      if (!box.taken(box.sent())) return false;
    return true;
  }
};

}  // namespace stretto::transport::shm

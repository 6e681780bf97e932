// SPDX-License-Identifier: BSD-3-Clause
//
// Two processes of a node, as one of them sees it.
#pragma once

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>
#include <vector>

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

  /// The next line, to be filled and then posted for the operation of `key`. Not if full().
  Line& next() { return lane_->lines[sent_ % ring]; }
  void post(std::uint64_t key) {
    Line& line = next();
    line.key.store(key | (++sent_ & number_bits), std::memory_order_release);
  }

 private:
  Lane* lane_ = nullptr;
  std::uint64_t sent_ = 0;
  mutable std::atomic<std::uint64_t> taken_{0};  // as far as known; rooms of several threads may ask
};

/// A part of a message that has come; none if `content` is null.
struct Part {
  const std::byte* content = nullptr;
  Bytes bytes = 0;
  bool inlined = false;
  bool last = false;   ///< of its message
  bool early = false;  ///< it stands in the buffer of unexpected parts

  explicit operator bool() const { return content; }
};

/// My end of the lane from a peer.
class Inbox {
 public:
  void open(Lane* lane, const std::byte* segment, std::uint64_t start) {
    lane_ = lane;
    segment_ = segment;
    taken_ = given_back_ = start;
  }

  /// The next part for the operation of `key`, if it has come.
  Part next(std::uint64_t key) {
    if (early_) [[unlikely]]
      if (const Part part = find_early(key)) return part;
    const Line& line = lane_->lines[taken_ % ring];
    if (line.key.load(std::memory_order_acquire) != (key | ((taken_ + 1) & number_bits))) {
      waited_ = true;
      return {};
    }
    // The sender is ahead: what it has written comes while this part is worked on.
    if (!waited_) __builtin_prefetch(&lane_->lines[(taken_ + 1) % ring]);
    return {content(line), line.bytes, line.inlined != 0, line.last != 0};
  }
  /// The part that next(key) gave is not needed any more. Inlined ones are given back in groups: a sender that runs
  /// ahead would wait for the line of `taken` once for each. True: something was given back.
  bool release(std::uint64_t key, const Part& part) {
    waited_ = false;
    if (part.early) [[unlikely]] {
      drop_early(key);
      return false;
    }
    return release(part.inlined);
  }

  /// Is the part in front for another operation than that of `key`? Then it is put into the buffer of unexpected parts,
  /// so that those behind it can be seen.
  bool put_aside(std::uint64_t key) {
    const Line& line = lane_->lines[taken_ % ring];
    const std::uint64_t found = line.key.load(std::memory_order_acquire);
    const std::uint64_t number = (taken_ + 1) & number_bits;
    if ((found & number_bits) != number || found == (key | number)) return false;
    if (!early_) early_ = std::make_unique<std::list<Early>>();
    const std::byte* from = content(line);
    early_->push_back({found & ~number_bits, line.last != 0, {from, from + line.bytes}});
    release(false);
    return true;
  }
  void forget(std::uint32_t communicator) {
    if (!early_) return;
    early_->remove_if([&](const Early& e) { return communicator_of(e.key) == communicator; });
    if (early_->empty()) early_.reset();
  }

  /// Gives back the rest. Where there is none, the sender may use the lane for another peer already, or be gone.
  void close() {
    if (taken_ != given_back_) lane_->taken.store(taken_, std::memory_order_release);
    given_back_ = taken_;
    lane_ = nullptr;
    early_.reset();
  }

 private:
  /// An unexpected part: its operation has not asked for it yet.
  struct Early {
    std::uint64_t key;
    bool last;
    std::vector<std::byte> data;
  };

  const std::byte* content(const Line& line) const { return line.inlined ? line.payload : segment_ + line.at; }
  bool release(bool inlined) {
    const bool whole_group = ++taken_ % group == 0;
    if (inlined && !whole_group) return false;
    given_back_ = taken_;
    lane_->taken.store(taken_, std::memory_order_release);
    return true;
  }

  auto first_early(std::uint64_t key) {
    return std::find_if(early_->begin(), early_->end(), [&](const Early& e) { return e.key == key; });
  }
  Part find_early(std::uint64_t key) {
    static constexpr std::byte nothing{};
    const auto found = first_early(key);
    if (found == early_->end()) return {};
    const auto bytes = static_cast<Bytes>(found->data.size());
    return {bytes > 0 ? found->data.data() : &nothing, bytes, false, found->last, true};
  }
  void drop_early(std::uint64_t key) {
    early_->erase(first_early(key));
    if (early_->empty()) early_.reset();
  }

  Lane* lane_ = nullptr;
  const std::byte* segment_ = nullptr;
  std::uint64_t taken_ = 0;
  std::uint64_t given_back_ = 0;
  std::unique_ptr<std::list<Early>> early_;  // in the order they came; null if there are none
  bool waited_ = false;                      // for this part
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
  /// Drops what has come for operations of a communicator that ends.
  void forget(std::uint32_t communicator) {
    for (Inbox& box : in) box.forget(communicator);
  }
  /// Has the peer closed it, or given all back?
  bool drained() const {
    for (const Outbox& box : out)
      if (!box.taken(box.sent())) return false;
    return true;
  }
};

}  // namespace stretto::transport::shm

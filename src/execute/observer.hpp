// SPDX-License-Identifier: BSD-3-Clause
//
// What is noted of operations where somebody wants to know: how long they waited, and what they did when.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "stretto/types.hpp"

namespace stretto::execute {

/// A moment or a span on the clock that all processes of a node share.
using Nanoseconds = std::int64_t;

inline Nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

enum class Activity : std::uint8_t { call, send, receive, reduce, copy, wait };

struct Event {
  Nanoseconds begin = 0, end = 0;
  Bytes bytes = 0;
  Rank peer = no_rank;
  std::uint32_t round = 0;      ///< from 1 on; 0: of no round
  std::uint16_t algorithm = 0;  ///< a number that the owner of the timeline gives meaning to
  Activity activity = Activity::call;
  std::uint8_t function = 0;  ///< of a call
};

/// The last of what is added; earlier ones make room.
template <typename One>
class Latest {
 public:
  explicit Latest(std::size_t most) : ring_(std::max<std::size_t>(most, 1)) {}

  void add(const One& one) { ring_[added_++ % ring_.size()] = one; }
  std::size_t dropped() const { return added_ - kept(); }
  std::vector<One> in_order() const {  ///< the oldest first
    std::vector<One> all;
    all.reserve(kept());
    for (std::size_t i = dropped(); i < added_; ++i) all.push_back(ring_[i % ring_.size()]);
    return all;
  }

 private:
  std::size_t kept() const { return std::min(added_, ring_.size()); }

  std::vector<One> ring_;
  std::size_t added_ = 0;
};

using Timeline = Latest<Event>;  ///< of one thread

/// Of one thread. It always sees long waits, those in which the thread yields its core; the rest only when it looks
/// closely, for reading the clock takes longer than a short call may.
class Observer {
 public:
  Timeline* timeline = nullptr;
  std::uint16_t algorithm = 0;    ///< of the events to come
  std::span<const Rank> numbers;  ///< of peers, for the timeline; empty: their ranks

  bool closely() const { return closely_; }
  void look_closely() {
    forget();
    closely_ = touched_ = true;
  }
  /// From now on this call is seen as one that is not looked at.
  void look_away() {
    if (yield_began_ == 0) return forget();
    closely_ = false;
  }
  /// Has it something to tell?
  bool touched() const { return touched_; }
  /// What it had to tell: the next call is not looked at closely.
  void forget() {
    touched_ = closely_ = false;
    idle_since_ = waited_ = yield_began_ = yielding_since_ = before_yield_ = 0;
    heard_ = {};
  }

  /// When the call first yielded its core; 0: never.
  Nanoseconds yield_began() const { return yield_began_; }
  /// The waits that ended with the first sign of some rank in this call: later ones are for data on their way. Of a
  /// call that is not looked at closely, all its long waits.
  Nanoseconds waited() const { return waited_; }
  /// Of that, until the core was first yielded.
  Nanoseconds waited_before_yield() const { return yield_began_ > 0 ? std::min(before_yield_, waited_) : waited_; }

  // Called by operations and their progress, always.
  void yields() {
    yielding_since_ = now();
    touched_ = true;
    if (yield_began_ > 0) return;
    yield_began_ = yielding_since_;
    before_yield_ = waited_ + (idle_since_ > 0 ? yield_began_ - idle_since_ : 0);
  }
  void resumes() {
    if (!closely_) waited_ += now() - yielding_since_;
  }

  // The same, when it looks closely.
  /// Nothing can be done.
  void idle() {
    if (idle_since_ == 0) idle_since_ = now();
  }
  /// Something begins: a message of `peer` has come or, after a wait, one to it can leave.
  Nanoseconds active(Rank peer, bool came) {
    const bool first = (came || idle_since_ > 0) && hear(peer);
    if (idle_since_ == 0) return timeline ? now() : 0;
    const Nanoseconds at = now();
    if (first) waited_ += at - idle_since_;
    if (timeline) timeline->add({.begin = idle_since_, .end = at, .algorithm = algorithm, .activity = Activity::wait});
    idle_since_ = 0;
    return at;
  }
  void done(Nanoseconds begin, Activity activity, Rank peer, Bytes bytes, std::size_t round) {
    if (!timeline) return;
    const bool known = peer >= 0 && static_cast<std::size_t>(peer) < numbers.size();
    timeline->add({.begin = begin,
                   .end = now(),
                   .bytes = bytes,
                   .peer = known ? numbers[static_cast<std::size_t>(peer)] : peer,
                   .round = static_cast<std::uint32_t>(round + 1),
                   .algorithm = algorithm,
                   .activity = activity});
  }

 private:
  /// Is it the first time in this call? (Ranks that differ by a multiple of 1024 are taken for the same.)
  bool hear(Rank peer) {
    if (peer < 0) return false;
    std::uint64_t& word = heard_[static_cast<std::size_t>(peer) / 64 % heard_.size()];
    const std::uint64_t bit = std::uint64_t{1} << (peer % 64);
    const bool first = (word & bit) == 0;
    word |= bit;
    return first;
  }

  bool touched_ = false;
  bool closely_ = false;
  Nanoseconds idle_since_ = 0;
  Nanoseconds waited_ = 0;
  Nanoseconds yield_began_ = 0;
  Nanoseconds yielding_since_ = 0;
  Nanoseconds before_yield_ = 0;
  std::array<std::uint64_t, 16> heard_{};
};

}  // namespace stretto::execute

// SPDX-License-Identifier: BSD-3-Clause
//
// Which parts of a heap are in use, by whole pages. It touches none of that memory.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "stretto/types.hpp"

namespace stretto::transport::shm {

/// A free part is *kept*, if the system's memory is still behind it, or *bare*: it has given that back, or never had
/// it, and reads as zeros. Kept parts are handed out first: touching bare ones costs a page fault each page.
class BlockMap {
 public:
  /// Offsets from `begin` to `end`, whole pages, all of them bare. `page` is the system's, which is not 4 KiB
  /// everywhere: asked to take back less, it would take what lies behind as well. `base` is the address of offset 0, a
  /// multiple of that.
  BlockMap(Bytes begin, Bytes end, Bytes page, Bytes base = 0) : page_(page), base_(base) {
    add(begin, end - begin, State::bare);
  }
  Bytes rounded(Bytes bytes) const { return (bytes + page_ - 1) / page_ * page_; }

  struct Taken {
    Bytes at;
    bool zeros;
  };
  /// Nothing: no free part is large enough. `alignment` is that of the address, a power of two.
  std::optional<Taken> take(Bytes bytes, Bytes alignment = 1) {
    bytes = rounded(std::max<Bytes>(bytes, 1));
    alignment = std::max(alignment, page_);
    for (const State state : {State::kept, State::bare})
      for (auto found = free(state).lower_bound({bytes, 0}); found != free(state).end(); ++found) {
        const auto [room, first] = *found;
        const Bytes at = (base_ + first + alignment - 1) / alignment * alignment - base_;
        if (at + bytes > first + room) continue;
        erase(first);
        if (at > first) add(first, at - first, state);
        if (at + bytes < first + room) add(at + bytes, first + room - at - bytes, state);
        add(at, bytes, State::used);
        return Taken{at, state == State::bare};
      }
    return std::nullopt;
  }

  /// Of the block that begins there.
  Bytes size(Bytes at) const {
    const auto found = parts_.find(at);
    return found != parts_.end() && found->second.state == State::used ? found->second.bytes : 0;
  }

  /// The block that begins at `at` is free again. Returns its size; 0: there is none.
  Bytes give(Bytes at) {
    const Bytes bytes = size(at);
    if (bytes == 0) return 0;
    erase(at);
    join(at, bytes, State::kept);
    return bytes;
  }

  /// Makes a block larger where what lies behind it is free, or smaller. False: it stays as it is.
  bool resize(Bytes at, Bytes bytes) {
    const Bytes now = size(at);
    bytes = rounded(std::max<Bytes>(bytes, 1));
    if (now == 0) return false;
    if (bytes < now) {
      parts_[at].bytes = bytes;
      join(at + bytes, now - bytes, State::kept);
      return true;
    }
    Bytes end = at + now;
    auto next = parts_.find(end);
    while (next != parts_.end() && next->second.state != State::used && end < at + bytes) {
      end += next->second.bytes;
      ++next;
    }
    if (end < at + bytes) return false;
    for (Bytes gone = at + now; gone < at + bytes;) {
      const auto [room, state] = parts_[gone];
      erase(gone);
      gone += room;
      if (gone > at + bytes) add(at + bytes, gone - at - bytes, state);
    }
    parts_[at].bytes = bytes;
    return true;
  }

  /// Bytes of all kept parts.
  Bytes kept() const { return kept_; }
  /// Makes kept parts bare, the largest first, until no more than `most` bytes are kept: forget(at, bytes) gives the
  /// memory of each back. Where it cannot and returns false, that part stays kept, and so do the others.
  template <typename Forget>
  void strip(Bytes most, Forget forget) {
    while (kept_ > most) {
      const auto [bytes, at] = *std::prev(free(State::kept).end());
      if (!forget(at, bytes)) return;
      erase(at);
      join(at, bytes, State::bare);
    }
  }

  /// use(at, bytes) for every block.
  template <typename Use>
  void for_each_block(Use use) const {
    for (const auto& [at, part] : parts_)
      if (part.state == State::used) use(at, part.bytes);
  }

 private:
  enum class State : std::uint8_t { used, kept, bare };
  struct Extent {
    Bytes bytes = 0;
    State state = State::bare;
  };
  using BySize = std::set<std::pair<Bytes, Bytes>>;  // size, offset

  BySize& free(State state) { return free_[state == State::kept ? 0 : 1]; }

  void add(Bytes at, Bytes bytes, State state) {
    parts_[at] = {bytes, state};
    if (state != State::used) free(state).insert({bytes, at});
    if (state == State::kept) kept_ += bytes;
  }
  void erase(Bytes at) {
    const auto found = parts_.find(at);
    const auto [bytes, state] = found->second;
    if (state != State::used) free(state).erase({bytes, at});
    if (state == State::kept) kept_ -= bytes;
    parts_.erase(found);
  }
  /// A free part, one with its neighbours of the same kind.
  void join(Bytes at, Bytes bytes, State state) {
    const auto next = parts_.find(at + bytes);
    if (next != parts_.end() && next->second.state == state) {
      bytes += next->second.bytes;
      erase(next->first);
    }
    const auto after = parts_.lower_bound(at);
    if (after != parts_.begin()) {
      const auto before = std::prev(after);
      if (before->second.state == state && before->first + before->second.bytes == at) {
        at = before->first;
        bytes += before->second.bytes;
        erase(at);
      }
    }
    add(at, bytes, state);
  }

  Bytes page_;
  Bytes base_;
  std::map<Bytes, Extent> parts_;  // by offset; they cover everything
  std::array<BySize, 2> free_;
  Bytes kept_ = 0;
};

}  // namespace stretto::transport::shm

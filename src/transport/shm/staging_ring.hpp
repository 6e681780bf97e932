// SPDX-License-Identifier: BSD-3-Clause
//
// Where messages that fit in no slot stand until they have been read.
//
// The ring lies in this process's segment and is used by one thread. Each chunk of it has references: one for each
// receiver that reads it, by the number of the fragment that points to it. A receiver says that it has read by the
// credits of its channel, so nothing is written back here; the ring looks at the credits when it needs memory.
#pragma once

#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <vector>

#include "transport/shm/connection.hpp"

namespace stretto::transport::shm {

/// Given out in order and, where readers keep up, reclaimed in order. Small enough for the last cache.
class StagingRing {
 public:
  /// `memory` is reserved in `segment`, or there already if that is null. At most `bytes` of it are in use at once.
  /// `whole`: so many there are for messages that go around, not fewer than `bytes`; 0: none do.
  StagingRing(std::byte* memory, Bytes bytes, Segment* segment = nullptr, Bytes whole = 0)
      : segment_(segment),
        memory_(memory),
        bytes_(bytes),
        whole_(std::max(bytes, whole)),
        may_go_around_(whole > 0),
        provided_(segment ? 0 : static_cast<std::uint64_t>(whole_)),
        references_(64) {}

  Bytes bytes() const { return bytes_; }
  bool may_go_around() const { return may_go_around_; }

  /// Chunks in use at once may have so many bytes in all, if each has its references before the next is taken.
  Bytes capacity(Bytes largest) const { return bytes_ - rounded(largest); }
  static constexpr Bytes rounded(Bytes bytes) { return (bytes + 63) / 64 * 64; }

  /// Null if readers have not released enough of what was taken before. `around`: goes on to the end of the memory
  /// before it begins again, in what the readers' caches do not hold any more.
  /// `again`: at the beginning, if all has been read.
  std::byte* take(Bytes bytes, bool around = false, bool again = false) {
    const auto n = static_cast<std::uint64_t>(rounded(bytes));
    const auto size = static_cast<std::uint64_t>(bytes_);
    if ((again || (!around && is_time_to_begin_again(n))) && detached_.empty()) begin_again();
    const auto [offset, skipped] = next_offset(n, static_cast<std::uint64_t>(around ? whole_ : bytes_));
    if (end_ + skipped + n - begin_ > size) {
      reclaim();
      if (end_ + skipped + n - begin_ > size) return nullptr;
    }
    if (offset + n > provided_ && !provide(offset + n)) [[unlikely]] {
      if (!around) throw std::bad_alloc();  // the message could not leave, and its receiver would wait for ever
      may_go_around_ = false;               // what it has without that must do
      return take(bytes);
    }
    newest_ = offset;
    end_at_ = offset + n;
    newest_is_new_ = end_at_ > used_;
    used_ = std::max(used_, end_at_);
    end_ += skipped + n;
    return memory_ + offset;
  }

  /// Are pages of what was taken last written for the first time? That is slow.
  bool has_new_pages() const { return newest_is_new_; }

  /// Writes all pages that messages use where they do not go around, so that none of them is new.
  void write_pages() {
    const auto size = static_cast<std::uint64_t>(bytes_);
    if (provided_ < size && !provide(size)) return;
    constexpr std::uint64_t page = 4096;
    for (std::uint64_t at = (used_ + page - 1) / page * page; at < size; at += page) memory_[at] = {};
    used_ = std::max(used_, size);
  }

  /// What was taken last is read by the receiver of fragment `number` of `box`, for an operation of a communicator,
  /// the `owner`. The last reader of a chunk says so. Returns what posted() wants, where the number is not known yet.
  std::uint64_t add_reference(const Outbox& box, std::uint64_t number, std::uint64_t owner, bool last_reader) {
    if (next_ - oldest_ == references_.size()) grow();
    at(next_) = {&box,
                 number,
                 owner,
                 static_cast<std::uint32_t>(newest_),
                 static_cast<std::uint32_t>(end_at_),
                 last_reader ? end_ : 0};
    return next_++;
  }
  static constexpr std::uint64_t not_posted = ~std::uint64_t{0};  ///< a number
  void posted(std::uint64_t reference, std::uint64_t number) {
    if (reference >= oldest_) {
      at(reference).number = number;
      return;
    }
    for (Detached& chunk : detached_)
      if (reference >= chunk.first && reference - chunk.first < chunk.references.size())
        chunk.references[static_cast<std::size_t>(reference - chunk.first)].number = number;
  }

  /// Some readers do not come, because they wait for operations of other communicators than `owner`. Their
  /// chunks are detached: they stay where they are, but those behind them can be reclaimed. False: there are none.
  bool detach_others(std::uint64_t owner) {
    reclaim();
    const auto is_other = [&](const Reference& r) { return r.owner != owner && !r.released(); };
    bool others =
        std::ranges::any_of(detached_, [&](const Detached& d) { return std::ranges::any_of(d.references, is_other); });
    for (std::uint64_t i = oldest_; i < next_; ++i) others |= is_other(at(i));
    while (others && oldest_ < next_) detach_oldest();
    return others;
  }

  /// Has all of it been read?
  bool drained() {
    reclaim();
    std::erase_if(detached_, is_released);
    return oldest_ == next_ && detached_.empty();
  }

 private:
  struct Reference {
    const Outbox* box;
    std::uint64_t number;
    std::uint64_t owner;
    std::uint32_t begin, end_at;  // of the chunk, from the beginning of the memory
    std::uint64_t end;            // of the chunk, as end_; 0: others read it too
    bool released() const { return number != not_posted && box->released(number); }
  };
  struct Detached {
    std::uint64_t begin, end;  // from the beginning of the memory
    std::uint64_t first;       // reference
    std::vector<Reference> references;
  };

  static bool is_released(const Detached& chunk) { return std::ranges::all_of(chunk.references, &Reference::released); }

  Reference& at(std::uint64_t reference) { return references_[reference & (references_.size() - 1)]; }

  /// There is one.
  void detach_oldest() {
    Detached chunk{at(oldest_).begin, 0, oldest_, {}};
    while (chunk.end == 0) {
      const Reference& reference = at(oldest_++);
      chunk.references.push_back(reference);
      if (reference.end == 0) continue;
      chunk.end = reference.end_at;
      begin_ = reference.end;
    }
    if (oldest_ == next_) begin_ = end_;
    detached_.push_back(std::move(chunk));
  }

  /// Where the next n bytes go in the first `size`, and how far end_ is before that: a chunk does not wrap around, and
  /// does not lie where a detached one is. What is in use are the last chunks, of bytes_ at most, and n fit in besides:
  /// so they are not in the way, wherever those before had turned round.
  std::pair<std::uint64_t, std::uint64_t> next_offset(std::uint64_t n, std::uint64_t size) {
    std::uint64_t offset = end_at_, skipped = 0;
    const auto skip = [&](std::uint64_t bytes) {
      skipped += bytes;
      offset += bytes;
      if (offset + n <= size) return;
      skipped += size > offset ? size - offset : 0;
      offset = 0;
    };
    skip(0);
    if (!detached_.empty()) [[unlikely]]
      for (const Detached* chunk = detached_at(offset, n); chunk && skipped <= 2 * size; chunk = detached_at(offset, n))
        skip(chunk->end - offset);
    return {offset, skipped};
  }

  const Detached* detached_at(std::uint64_t offset, std::uint64_t n) {
    std::erase_if(detached_, is_released);
    const auto found =
        std::ranges::find_if(detached_, [&](const Detached& d) { return offset < d.end && d.begin < offset + n; });
    return found == detached_.end() ? nullptr : &*found;
  }

  /// The system is asked for memory when it is first needed: most programs never need all of it. Where a reader first
  /// touches a page, up to 15 around it that are there become resident as well, so steps are short. False: it has none.
  bool provide(std::uint64_t end) {
    constexpr std::uint64_t step = 16 << 10;
    const std::uint64_t more = std::min((end + step - 1) / step * step, static_cast<std::uint64_t>(whole_)) - provided_;
    if (!segment_->provide(memory_ + provided_, static_cast<Bytes>(more))) return false;
    provided_ += more;
    return true;
  }

  /// The less of the memory is in use, the more of it stays in the first caches of both cores. That pays for messages
  /// of 1 to 2 KiB; longer ones, mostly written by non-temporal stores, then take longer (AMD EPYC). With shorter ones
  /// it saves memory: all ranks of a node may read this ring. Each try costs a transfer, to see what has been read.
  bool is_time_to_begin_again(std::uint64_t n) const {
    constexpr std::uint64_t pays_from = 1 << 10, pays_up_to = 2 << 10, window = 8 << 10;
    const std::uint64_t part = std::max(static_cast<std::uint64_t>(bytes_) / 4, 4 * n);
    if (end_at_ >= part && (n < pays_from || n > pays_up_to)) return true;
    return n <= pays_up_to && (end_at_ < tried_at_ || end_at_ - tried_at_ >= std::min(window, part));
  }

  /// Goes back to the beginning of the memory, which is still in the caches of both cores, if all has been read. If not
  /// it goes on: all messages of a round must find a place, whatever has been read of them.
  void begin_again() {
    reclaim();
    if (begin_ == end_) end_at_ = 0;
    tried_at_ = end_at_;
  }

  void reclaim() {
    for (; oldest_ < next_; ++oldest_) {
      const Reference& reference = at(oldest_);
      if (!reference.released()) return;
      if (reference.end > 0) begin_ = reference.end;
    }
    begin_ = end_;
  }

  void grow() {
    std::vector<Reference> larger(references_.size() * 2);
    for (std::uint64_t i = oldest_; i < next_; ++i) larger[i & (larger.size() - 1)] = at(i);
    references_.swap(larger);
  }

  Segment* segment_;
  std::byte* memory_;
  Bytes bytes_, whole_;
  bool may_go_around_;
  std::uint64_t provided_;             // bytes from the beginning that the system has given
  std::uint64_t begin_ = 0, end_ = 0;  // of what is in use; both grow for ever
  std::uint64_t end_at_ = 0;           // end_, from the beginning of the memory
  std::uint64_t tried_at_ = 0;         // where end_at_ was when it last tried to begin again
  std::uint64_t newest_ = 0;           // where the chunk is that was taken last
  std::uint64_t used_ = 0;             // bytes from the beginning that chunks have had
  bool newest_is_new_ = false;         // a part of it no chunk before has had
  std::vector<Reference> references_;  // a ring; its size is a power of two
  std::uint64_t oldest_ = 0, next_ = 0;
  std::vector<Detached> detached_;
};

/// Of one thread, one for each channel.
using StagingRings = std::array<StagingRing*, channels>;

}  // namespace stretto::transport::shm

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <new>
#include <vector>

#include "transport/shm/connection.hpp"

namespace stretto::transport::shm {

/// Where parts of messages stand until they have been read: a ring in this process's segment, given out in order and
/// taken back in order. Small enough for the last cache.
class Room {
 public:
  /// `memory` is reserved in `segment`, or there already if that is null.
  Room(std::byte* memory, Bytes bytes, Segment* segment = nullptr)
      : segment_(segment),
        memory_(memory),
        bytes_(bytes),
        provided_(segment ? 0 : static_cast<std::uint64_t>(bytes)),
        loans_(64) {}

  Bytes bytes() const { return bytes_; }

  /// Pieces that are in use at once may have so many bytes in all, if each is lent out before the next is taken.
  Bytes capacity(Bytes largest) const { return bytes_ - rounded(largest); }
  static constexpr Bytes rounded(Bytes bytes) { return (bytes + 63) / 64 * 64; }

  /// Null if readers have not done with enough of what was taken before.
  std::byte* take(Bytes bytes) {
    const auto n = static_cast<std::uint64_t>(rounded(bytes));
    const auto size = static_cast<std::uint64_t>(bytes_);
    std::uint64_t start = end_;
    if (start % size + n > size) start += size - start % size;  // a piece does not wrap around
    if (start + n - begin_ > size) {
      take_back();
      if (start + n - begin_ > size) return nullptr;
    }
    const std::uint64_t at = start % size;
    if (at + n > provided_) [[unlikely]]
      provide(at + n);
    end_ = start + n;
    return memory_ + at;
  }

  /// What was taken last is read by the receiver of part `number` of `box`. The last reader of a piece says so.
  void lend(const Outbox& box, std::uint64_t number, bool last_reader) {
    if (newest_ - oldest_ == loans_.size()) grow();
    loans_[newest_++ % loans_.size()] = {&box, number, last_reader ? end_ : 0};
  }

 private:
  struct Loan {
    const Outbox* box;
    std::uint64_t number;
    std::uint64_t end;  // of the piece; 0: others read it too
  };

  /// Memory is asked of the system when it is first needed: most programs never need all of it. Without it the message
  /// could not leave, and its receiver would wait for ever.
  void provide(std::uint64_t end) {
    constexpr std::uint64_t step = 64 << 10;
    const std::uint64_t more = std::min((end + step - 1) / step * step, static_cast<std::uint64_t>(bytes_)) - provided_;
    if (!segment_->provide(memory_ + provided_, static_cast<Bytes>(more))) throw std::bad_alloc();
    provided_ += more;
  }

  void take_back() {
    for (; oldest_ < newest_; ++oldest_) {
      const Loan& loan = loans_[oldest_ % loans_.size()];
      if (!loan.box->taken(loan.number)) return;
      if (loan.end > 0) begin_ = loan.end;
    }
    begin_ = end_;
  }

  void grow() {
    std::vector<Loan> larger(loans_.size() * 2);
    for (std::size_t i = oldest_; i < newest_; ++i) larger[i % larger.size()] = loans_[i % loans_.size()];
    loans_.swap(larger);
  }

  Segment* segment_;
  std::byte* memory_;
  Bytes bytes_;
  std::uint64_t provided_;             // bytes from the beginning that the system has given
  std::uint64_t begin_ = 0, end_ = 0;  // of what is in use; both grow for ever
  std::vector<Loan> loans_;            // a ring
  std::size_t oldest_ = 0, newest_ = 0;
};

}  // namespace stretto::transport::shm

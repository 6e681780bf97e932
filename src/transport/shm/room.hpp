// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "transport/shm/connection.hpp"

namespace stretto::transport::shm {

/// Where parts of messages stand until they have been read: a ring in this process's segment, given out in order and,
/// if readers do not dawdle, taken back in order. Small enough for the last cache.
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
    const auto [place, skipped] = next_place(n);
    if (end_ + skipped + n - begin_ > size) {
      take_back();
      if (end_ + skipped + n - begin_ > size) return nullptr;
    }
    if (place + n > provided_) [[unlikely]]
      provide(place + n);
    newest_ = place;
    end_at_ = place + n;
    end_ += skipped + n;
    return memory_ + place;
  }

  /// What was taken last is read by the receiver of part `number` of `box`, for the operation of `key`. The last reader
  /// of a piece says so. Returns what posted() wants, where the number is not known yet.
  std::uint64_t lend(const Outbox& box, std::uint64_t number, std::uint64_t key, bool last_reader) {
    if (lent_ - oldest_ == loans_.size()) grow();
    at(lent_) = {&box, number, communicator_of(key), static_cast<std::uint32_t>(newest_), last_reader ? end_ : 0};
    return lent_++;
  }
  static constexpr std::uint64_t not_posted = ~std::uint64_t{0};  ///< a number
  void posted(std::uint64_t loan, std::uint64_t number) {
    if (loan >= oldest_) {
      at(loan).number = number;
      return;
    }
    for (Kept& piece : kept_)
      if (loan >= piece.first && loan - piece.first < piece.loans.size())
        piece.loans[static_cast<std::size_t>(loan - piece.first)].number = number;
  }

  /// Some readers do not come, which wait for operations of other communicators than that of `key`: their pieces are
  /// kept where they are, and no longer in the way of those behind them. False: there are none.
  bool keep_others(std::uint64_t key) {
    take_back();
    const auto is_other = [&](const Loan& l) { return l.communicator != communicator_of(key) && !l.done(); };
    bool others = std::ranges::any_of(kept_, [&](const Kept& k) { return std::ranges::any_of(k.loans, is_other); });
    for (std::uint64_t i = oldest_; i < lent_; ++i) others |= is_other(at(i));
    while (others && oldest_ < lent_) keep_oldest();
    return others;
  }

 private:
  struct Loan {
    const Outbox* box;
    std::uint64_t number;
    std::uint32_t communicator;
    std::uint32_t begin;  // of the piece, from the beginning of the memory
    std::uint64_t end;    // of the piece, as end_; 0: others read it too
    bool done() const { return number != not_posted && box->taken(number); }
  };
  struct Kept {
    std::uint64_t begin, end;  // from the beginning of the memory
    std::uint64_t first;       // loan
    std::vector<Loan> loans;
  };

  Loan& at(std::uint64_t loan) { return loans_[loan & (loans_.size() - 1)]; }

  /// There is one.
  void keep_oldest() {
    Kept piece{at(oldest_).begin, 0, oldest_, {}};
    while (piece.end == 0) {
      const Loan& loan = at(oldest_++);
      piece.loans.push_back(loan);
      if (loan.end == 0) continue;
      piece.end = (loan.end - 1) % static_cast<std::uint64_t>(bytes_) + 1;
      begin_ = loan.end;
    }
    if (oldest_ == lent_) begin_ = end_;
    kept_.push_back(std::move(piece));
  }

  /// Where the next n bytes have their place, and how far end_ is before it: a piece does not wrap around, and does not
  /// lie where a kept one is.
  std::pair<std::uint64_t, std::uint64_t> next_place(std::uint64_t n) {
    const auto size = static_cast<std::uint64_t>(bytes_);
    std::uint64_t place = end_at_, skipped = 0;
    const auto skip = [&](std::uint64_t bytes) {
      skipped += bytes;
      place += bytes;
      if (place + n <= size) return;
      skipped += size - place;
      place = 0;
    };
    skip(0);
    if (!kept_.empty()) [[unlikely]]
      for (const Kept* piece = kept_at(place, n); piece && skipped <= 2 * size; piece = kept_at(place, n))
        skip(piece->end - place);
    return {place, skipped};
  }

  const Kept* kept_at(std::uint64_t place, std::uint64_t n) {
    std::erase_if(kept_, [](const Kept& k) { return std::ranges::all_of(k.loans, &Loan::done); });
    const auto found = std::ranges::find_if(kept_, [&](const Kept& k) { return place < k.end && k.begin < place + n; });
    return found == kept_.end() ? nullptr : &*found;
  }

  /// Memory is asked of the system when it is first needed: most programs never need all of it. Without it the message
  /// could not leave, and its receiver would wait for ever.
  void provide(std::uint64_t end) {
    constexpr std::uint64_t step = 64 << 10;
    const std::uint64_t more = std::min((end + step - 1) / step * step, static_cast<std::uint64_t>(bytes_)) - provided_;
    if (!segment_->provide(memory_ + provided_, static_cast<Bytes>(more))) throw std::bad_alloc();
    provided_ += more;
  }

  void take_back() {
    for (; oldest_ < lent_; ++oldest_) {
      const Loan& loan = at(oldest_);
      if (!loan.done()) return;
      if (loan.end > 0) begin_ = loan.end;
    }
    begin_ = end_;
  }

  void grow() {
    std::vector<Loan> larger(loans_.size() * 2);
    for (std::uint64_t i = oldest_; i < lent_; ++i) larger[i & (larger.size() - 1)] = at(i);
    loans_.swap(larger);
  }

  Segment* segment_;
  std::byte* memory_;
  Bytes bytes_;
  std::uint64_t provided_;             // bytes from the beginning that the system has given
  std::uint64_t begin_ = 0, end_ = 0;  // of what is in use; both grow for ever
  std::uint64_t end_at_ = 0;           // end_, from the beginning of the memory
  std::uint64_t newest_ = 0;           // where the piece is that was taken last
  std::vector<Loan> loans_;            // a ring; its size is a power of two
  std::uint64_t oldest_ = 0, lent_ = 0;
  std::vector<Kept> kept_;
};

}  // namespace stretto::transport::shm

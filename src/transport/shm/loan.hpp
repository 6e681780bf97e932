// SPDX-License-Identifier: BSD-3-Clause
//
// A lent message that both ends copy: the receiver by reading, the sender by writing, each a piece at a time, until
// none is left. Who has more time does more of it.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "support/memory.hpp"
#include "transport/shm/format.hpp"
#include "transport/shm/heap.hpp"
#include "transport/shm/kernel_copy.hpp"
#include "transport/shm/segment.hpp"

namespace stretto::transport::shm {

/// Of a shorter message the receiver has copied the most when the sender sees that it was asked.
inline constexpr Bytes least_shared = 128 << 10;

struct LoanPiece {
  Bytes first = 0;
  Bytes bytes = 0;
};

/// The next piece that nobody copies: half of what is left, so that both end at about the same time.
inline LoanPiece take_piece(Loan& loan) {
  constexpr Bytes least = 64 << 10;
  const std::atomic_ref taken(loan.taken);
  Bytes first = taken.load(std::memory_order_relaxed);
  for (;;) {
    const Bytes left = loan.bytes - first;
    if (left <= 0) return {};
    const Bytes bytes = std::min(std::max(left / 2 / 4096 * 4096, least), left);
    if (taken.compare_exchange_weak(first, first + bytes, std::memory_order_relaxed)) return {first, bytes};
  }
}

/// The receiver asks for help.
inline void ask_for_help(Loan& loan, std::byte* target) {
  const std::atomic_ref asked(loan.target);
  if (!asked.load(std::memory_order_relaxed)) asked.store(target, std::memory_order_release);
}

/// For its receiver: has it asked?
inline bool is_shared(Loan& loan) { return std::atomic_ref(loan.target).load(std::memory_order_relaxed); }

inline bool asked_for_help(Loan& loan) {
  return std::atomic_ref(loan.target).load(std::memory_order_acquire) &&
         std::atomic_ref(loan.taken).load(std::memory_order_relaxed) < loan.bytes;
}

/// The sender's part, when it was asked: copies until nothing is left, in place where the target lies in the receiver's
/// heap. False: it may not write there.
inline bool help(Loan& loan, std::int64_t receiver, PeerHeap* heap) {
  std::byte* const target = std::atomic_ref(loan.target).load(std::memory_order_relaxed);
  std::byte* const here = heap ? heap->find(target, loan.bytes) : nullptr;
  const auto copy = [&](Bytes first, Bytes bytes) {
    if (!here)
      return loan.helps == Help::anywhere &&
             kernel_write(receiver, target + first, loan.address + first, bytes) == bytes;
    copy_bytes(here + first, loan.address + first, bytes);
    return true;
  };
  const std::atomic_ref written(loan.written);
  for (LoanPiece piece = take_piece(loan); piece.bytes > 0; piece = take_piece(loan)) {
    if (!copy(piece.first, piece.bytes)) {
      written.store(not_written, std::memory_order_release);
      return false;
    }
    written.store(written.load(std::memory_order_relaxed) + piece.bytes, std::memory_order_release);
  }
  return true;
}

/// The sender gives up. Whoever copies meanwhile sees it after that, in was_withdrawn().
inline void give_up(Loan& loan) {
  std::atomic_ref(loan.withdrawn).store(true, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // before what the program writes there next
}

inline bool was_withdrawn(Loan& loan) {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // after the copy
  return std::atomic_ref(loan.withdrawn).load(std::memory_order_relaxed);
}

/// The receiver's buffer, of which the receiver itself has copied `mine`, goes away: returns when the sender does not
/// write to it any more, or has ended, or at `end`: it may be stopped for ever.
inline void withdraw(Loan& loan, Bytes mine, std::int64_t sender, std::chrono::steady_clock::time_point end) {
  constexpr int yields_between_looks = 64;
  const Bytes taken = std::atomic_ref(loan.taken).exchange(loan.bytes, std::memory_order_relaxed);
  const std::atomic_ref written(loan.written);
  const auto writes = [&] {
    const Bytes theirs = written.load(std::memory_order_acquire);
    return theirs != not_written && mine + theirs < taken;
  };
  for (int yields = 0; writes(); ++yields) {
    if (yields % yields_between_looks == 0 && (has_ended(sender) || std::chrono::steady_clock::now() > end)) break;
    sched_yield();  // for it may need this core
  }
  std::atomic_ref(loan.target).store(nullptr, std::memory_order_relaxed);
}

}  // namespace stretto::transport::shm

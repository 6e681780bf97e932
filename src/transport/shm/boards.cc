// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/boards.hpp"

#include <algorithm>
#include <new>

namespace stretto::transport::shm {

Board* Boards::make(std::size_t places) {
  places = std::max(places, first_places);  // one serves for another
  const auto bytes = static_cast<Bytes>(sizeof(Board) + places * sizeof(Address));
  std::byte* memory = segment_.take(bytes, segment_.handle().bytes / 4);  // which is kept for staging rings
  if (!memory) return nullptr;
  auto* board = new (memory) Board;
  board->places = static_cast<std::uint32_t>(places);
  return board;
}

Board* Boards::take(std::size_t places) {
  const std::lock_guard lock(mutex_);
  const auto fits = [places](const Free& f) {
    return f.board->places >= places && f.board->read.load(std::memory_order_acquire) == f.readers;
  };
  Board* board = nullptr;
  if (const auto found = std::ranges::find_if(free_, fits); found != free_.end()) {
    board = found->board;
    free_.erase(found);
    board->read.store(0, std::memory_order_relaxed);
    board->notice.store(0, std::memory_order_relaxed);
  } else {
    board = make(places);
  }
  if (board) std::uninitialized_fill_n(board->addresses(), places, Address{});
  return board;
}

void Boards::give_back(Board* board, std::uint32_t readers) {
  if (!board) return;
  const std::lock_guard lock(mutex_);
  free_.push_back({board, readers});
}

/// The page is written before it is read: see touch() in process.cc.
Address read_address(Board& board, std::size_t place) {
  Address& theirs = board.addresses()[place];
  std::atomic_ref(theirs.channels).fetch_add(0, std::memory_order_acquire);
  return theirs;
}

}  // namespace stretto::transport::shm

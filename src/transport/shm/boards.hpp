// SPDX-License-Identifier: BSD-3-Clause
//
// How processes that meet tell each other where their connections are: each writes the addresses for all others into
// its own segment, where every other one reads the one for it. The MPI would need a message for each pair.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "transport/shm/format.hpp"
#include "transport/shm/segment.hpp"

namespace stretto::transport::shm {

/// Where the other process finds my channels of a connection, and at which fragment they stand.
struct Address {
  Bytes channels = -1;  ///< in the segment
  Capacity capacity;
  std::array<std::uint64_t, shm::channels> start{};
};

/// Memory of a segment, whose addresses may be read by others once ranks know that all have written theirs.
struct alignas(Address) Board {
  std::atomic<std::uint32_t> read{0};    ///< by how many others
  std::atomic<std::uint32_t> notice{0};  ///< what its owner tells all of them, the addresses written; 0: nothing yet
  std::uint32_t places = 0;
  Address* addresses() { return reinterpret_cast<Address*>(this + 1); }
};

/// Of one segment. For any thread.
class Boards {
 public:
  /// The first one stands in the first page, which others map for the segment's header anyway, and is enough for most
  /// nodes.
  static constexpr std::size_t first_places = 80;

  explicit Boards(Segment& segment) : segment_(segment) { give_back(make(first_places), 0); }

  /// Null: the segment is full.
  Board* take(std::size_t places);
  /// It may be taken again when so many others have read it.
  void give_back(Board* board, std::uint32_t readers);

 private:
  Board* make(std::size_t places);

  struct Free {
    Board* board;
    std::uint32_t readers;
  };
  Segment& segment_;
  std::mutex mutex_;
  std::vector<Free> free_;
};

/// The address at `place` of another process's board.
Address read_address(Board& board, std::size_t place);
/// That was all: the board need not stay for this process.
inline void finish_reading(Board& board) { board.read.fetch_add(1, std::memory_order_release); }

}  // namespace stretto::transport::shm

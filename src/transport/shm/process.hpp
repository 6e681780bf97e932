// SPDX-License-Identifier: BSD-3-Clause
//
// What one process shares with the others of its node: a segment, connections to them, and staging
// rings for its threads.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "transport/shm/boards.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/staging_ring.hpp"

namespace stretto::transport::shm {

/// Why there is no connection to another process.
struct Refusal {
  std::string why;
  bool full = false;  ///< no memory is left in my segment
};

class Process {
 public:
  /// Of the largest staging ring. It is larger than what a core's own caches keep: a cache line that is still in the
  /// last reader's cache is slow to write, because its ownership must be transferred first.
  static constexpr Bytes staging_bytes = Bytes{1} << 20;

  /// Null: `why` says what failed.
  static std::unique_ptr<Process> create(Bytes most, std::string& why);

  Segment& segment() { return *segment_; }
  Boards& boards() { return boards_; }

  /// My end of a connection to another process. Null: the segment is full, but for a quarter that is kept for staging
  /// rings. A thread without these could not do its calls, while a communicator without connections has the MPI.
  Connection* new_connection(const Capacity& capacity = {});
  /// The same to a process whose segment is mapped as long as there are such connections to it. Null: refused.
  Connection* new_connection(const SegmentHandle& peer, Refusal& refusal, const Capacity& capacity = {});
  Address address(const Connection& connection) const;
  /// The other end: that of `process`, whose segment is here at `segment`, and whose heap may be mapped.
  static void connect(Connection& connection, const Address& theirs, std::byte* segment, Doorbell* doorbell,
                      std::int64_t process, PeerHeap* heap = nullptr);
  /// The board at `offset` of the segment of the process at the other end, which was found by its handle.
  Board& board_of(const Connection& connection, Bytes offset);
  /// Connects to it by the address at `place` of its board.
  void connect(Connection& connection, Board& board, std::size_t place);
  /// Once its last messages have been read, its memory serves a connection to another peer.
  void retire(Connection* connection);

  /// Has the process at the other end ended without Segment::depart()?
  bool peer_died(const Connection& connection);
  /// What that process has told of its waits. Nothing: its segment is not here any more.
  std::optional<Wait> wait_of_peer(const Connection& connection);

  /// Nothing if the segment is full.
  std::optional<StagingRings> take_staging_rings();
  void return_staging_rings(const StagingRings& rings);

 private:
  explicit Process(std::unique_ptr<Segment> segment) : segment_(std::move(segment)), boards_(*segment_) {}
  Connection* unused_connection(const Capacity& capacity);
  void release(const Token& peer);

  std::mutex mutex_;
  std::unique_ptr<Segment> segment_;
  Boards boards_;
  std::deque<Connection> connections_;  // never freed: references in staging rings point to them
  std::vector<Connection*> retired_;
  struct Mapped {
    std::unique_ptr<Mapping> mapping;
    int connections = 0;
  };
  std::map<Token, Mapped> mappings_;
  std::deque<StagingRing> staging_rings_;
  std::vector<StagingRings> free_staging_rings_;
};

}  // namespace stretto::transport::shm

// SPDX-License-Identifier: BSD-3-Clause
//
// What one process shares with the others of its node: a segment, ways to them, and rooms for its threads.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "transport/shm/node.hpp"
#include "transport/shm/segment.hpp"

namespace stretto::transport::shm {

/// Where the other side finds my lanes of a connection.
struct Address {
  Bytes lanes = -1;  ///< in the segment
  std::array<std::uint64_t, shm::lanes> start{};
};

/// Why there is no way to another process.
struct Refusal {
  std::string why;
  bool full = false;  ///< no memory is left in my segment
};

class Process {
 public:
  /// The largest room. Larger than what a core's own caches keep: a line that the last reader still has is slow to
  /// write.
  static constexpr Bytes room_bytes = Bytes{1} << 20;

  /// Null: `why` says what failed.
  static std::unique_ptr<Process> create(Bytes most, std::string& why);

  Segment& segment() { return *segment_; }

  /// My half of a way to another process. Null: the segment is full, but for a quarter that is kept for rooms: a thread
  /// without rooms could not serve its calls, while a communicator without ways can do without.
  Connection* new_connection();
  /// The same to a process whose segment is mapped as long as there are such ways to it. Null: refused.
  Connection* new_connection(const Card& peer, Refusal& refusal);
  Address address(const Connection& connection) const;
  /// The other half, in a segment that this process sees at `segment`.
  static void connect(Connection& connection, const Address& theirs, std::byte* segment, Bell* bell);
  /// The same for a connection to a Card's process.
  void connect(Connection& connection, const Address& theirs);
  /// Once its last messages have been read, it serves another peer.
  void retire(Connection* connection);

  /// Has the process at the other end ended without Segment::depart()?
  bool peer_died(const Connection& connection);

  /// Nothing if the segment is full.
  std::optional<Rooms> take_rooms();
  void give_back(const Rooms& rooms);

 private:
  explicit Process(std::unique_ptr<Segment> segment) : segment_(std::move(segment)) {}
  Connection* unused_connection();
  void release(const Token& peer);

  std::mutex mutex_;
  std::unique_ptr<Segment> segment_;
  struct Half {
    Lane* lanes;
    Connection connection;
  };
  std::deque<Half> halves_;  // never freed: loans of rooms refer to them
  std::vector<Connection*> retired_;
  struct Mapped {
    std::unique_ptr<Mapping> mapping;
    int connections = 0;
  };
  std::map<Token, Mapped> mappings_;
  std::deque<Room> rooms_;
  std::vector<Rooms> free_rooms_;
};

}  // namespace stretto::transport::shm

// SPDX-License-Identifier: BSD-3-Clause
//
// What an operation asks of a transport. Implementations: transport/mpi, transport/threads. Ranks of one node have
// connections of their own, transport/shm, which operations use directly.
#pragma once

#include <cstdint>
#include <vector>

#include "stretto/types.hpp"
#include "support/deadline.hpp"

namespace stretto::transport {

/// Which operation a message belongs to, and which of its segments in flight. Messages of different operations may be
/// sent and received in any order.
struct Tag {
  std::uint32_t communicator = 0;  ///< a number that differs between all communicators of a process, equal on all ranks
  std::uint32_t sequence = 0;  ///< counts the operations of the communicator, on all ranks alike; 16 bits of it count
  int channel = 0;

  bool operator==(const Tag&) const = default;
};

/// Sequences of calls count below this, those of persistent calls, which stay in use, above it.
inline constexpr std::uint32_t sequences_of_calls = 1u << 15;

/// Given by the caller to each message, handed back when it is complete: an operation's number and a message's.
using Ticket = std::uint64_t;
inline Ticket ticket_of(std::uint32_t operation, std::uint32_t message) { return Ticket{operation} << 32 | message; }
inline std::uint32_t operation_of(Ticket ticket) { return static_cast<std::uint32_t>(ticket >> 32); }

enum class Outcome : std::uint8_t { ok, expired, failed };

/// Point-to-point messages of one rank. Used by one thread at a time.
///
/// Between two ranks, messages of one tag arrive in the order sent; receives match in the order posted. Both sides give
/// the same number of bytes. Memory belongs to the transport until the ticket comes back.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void send(Rank peer, Tag tag, const void* data, Bytes bytes, Ticket ticket) = 0;
  virtual void receive(Rank peer, Tag tag, void* data, Bytes bytes, Ticket ticket) = 0;

  /// Waits until something is complete and appends its tickets to `done`. With nothing posted: ok at once.
  virtual Outcome wait(std::vector<Ticket>& done, const Deadline& deadline) = 0;

  /// The same without waiting: ok even if nothing is complete.
  virtual Outcome poll(std::vector<Ticket>& done) {
    const Outcome outcome = wait(done, Deadline::in(std::chrono::seconds(0)));
    return outcome == Outcome::expired ? Outcome::ok : outcome;
  }

  /// Does a poll() that finds nothing let go of the core?
  virtual bool poll_yields() const { return false; }

  /// Gives up all messages of an operation: their tickets do not come back, and nothing is written into their memory.
  virtual void abandon(std::uint32_t operation) = 0;
};

}  // namespace stretto::transport

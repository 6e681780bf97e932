// SPDX-License-Identifier: BSD-3-Clause
//
// What an operation asks of a transport. Implementations: transport/mpi, transport/threads. Ranks of one node have
// connections of their own, transport/shm, which operations use directly.
#pragma once

#include <vector>

#include "stretto/types.hpp"
#include "support/deadline.hpp"
#include "transport/tag.hpp"

namespace stretto::transport {

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

  /// Gives up all messages of an operation: their tickets do not come back, and nothing is written into their memory.
  virtual void abandon(std::uint32_t operation) = 0;
};

}  // namespace stretto::transport

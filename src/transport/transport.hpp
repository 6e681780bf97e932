// SPDX-License-Identifier: BSD-3-Clause
//
// What the engine asks of a transport. Implementations: transport/mpi, transport/threads. Ranks of
// one node have a faster way, transport/shm, which the engine knows by itself.
#pragma once

#include <vector>

#include "stretto/types.hpp"
#include "support/deadline.hpp"

namespace stretto::transport {

/// Given by the caller to each operation, handed back when it is complete.
using Ticket = std::uint32_t;

enum class Outcome : std::uint8_t { ok, expired, failed };

/// Point-to-point messages of one rank. Used by one thread at a time.
///
/// Between two ranks, messages of one channel arrive in the order sent; receives match in the order posted. Both
/// sides give the same number of bytes. Memory belongs to the transport until the ticket comes back.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void send(Rank peer, int channel, const void* data, Bytes bytes, Ticket ticket) = 0;
  virtual void receive(Rank peer, int channel, void* data, Bytes bytes, Ticket ticket) = 0;

  /// Waits until something is complete and appends its tickets to `done`. With nothing posted: ok at once.
  virtual Outcome wait(std::vector<Ticket>& done, const Deadline& deadline) = 0;

  /// The same without waiting: ok even if nothing is complete.
  virtual Outcome poll(std::vector<Ticket>& done) {
    const Outcome outcome = wait(done, Deadline::in(std::chrono::seconds(0)));
    return outcome == Outcome::expired ? Outcome::ok : outcome;
  }

  /// After Outcome::failed: the underlying library's error code.
  virtual int error_code() const { return 0; }
};

}  // namespace stretto::transport

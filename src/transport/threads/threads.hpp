// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as threads of one process: for tests, and to replay a hang under one debugger.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>

#include "transport/transport.hpp"

namespace stretto::transport {

/// What the ranks share. Messages of more than `eager` bytes leave only when their receive is posted.
class ThreadWorld {
 public:
  ThreadWorld(Rank ranks, Bytes eager) : mailboxes_(static_cast<std::size_t>(ranks)), eager_(eager) {}

 private:
  friend class ThreadTransport;
  struct PendingSend {
    const void* data;
    std::vector<char> copy;  // of an eager message
    Bytes bytes;
    Ticket ticket;
    bool eager;
  };
  struct PendingReceive {
    void* data;
    Bytes bytes;
    Ticket ticket;
  };
  /// Of one sender and tag; one of the two is empty.
  struct MatchQueues {
    std::deque<PendingSend> sends;
    std::deque<PendingReceive> receives;
  };
  struct Mailbox {
    std::map<std::tuple<Rank, std::uint32_t, std::uint32_t, int>, MatchQueues> queues;  // by sender and tag
    std::vector<Ticket> done;
    std::size_t posted = 0;  // operations whose tickets have not been handed back
    bool overrun = false;
    std::condition_variable changed;
  };

  void match(Rank sender, Rank receiver, MatchQueues& queue);

  std::mutex mutex_;
  std::vector<Mailbox> mailboxes_;
  Bytes eager_;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(ThreadWorld& world, Rank rank) : world_(world), rank_(rank) {}
  void send(Rank peer, Tag tag, const void* data, Bytes bytes, Ticket ticket) override;
  void receive(Rank peer, Tag tag, void* data, Bytes bytes, Ticket ticket) override;
  Outcome wait(std::vector<Ticket>& done, const Deadline& deadline) override;
  void abandon(std::uint32_t operation) override;

 private:
  ThreadWorld& world_;
  Rank rank_;
};

}  // namespace stretto::transport

// SPDX-License-Identifier: BSD-3-Clause
#include "transport/threads/threads.hpp"

#include <cstring>

namespace stretto::transport {

void ThreadWorld::match(Rank sender, Rank receiver, MatchQueues& queues) {
  while (!queues.sends.empty() && !queues.receives.empty()) {
    PendingSend& from = queues.sends.front();
    PendingReceive& to = queues.receives.front();
    Mailbox& theirs = mailboxes_[static_cast<std::size_t>(sender)];
    Mailbox& ours = mailboxes_[static_cast<std::size_t>(receiver)];
    if (from.bytes != to.bytes) ours.overrun = true;
    const Bytes bytes = std::min(from.bytes, to.bytes);
    if (bytes > 0) std::memcpy(to.data, from.eager ? from.copy.data() : from.data, static_cast<std::size_t>(bytes));
    ours.done.push_back(to.ticket);
    ours.changed.notify_one();
    if (!from.eager) {
      theirs.done.push_back(from.ticket);
      theirs.changed.notify_one();
    }
    queues.sends.pop_front();
    queues.receives.pop_front();
  }
}

void ThreadTransport::send(Rank peer, Tag tag, const void* data, Bytes bytes, Ticket ticket) {
  const std::lock_guard lock(world_.mutex_);
  auto& mine = world_.mailboxes_[static_cast<std::size_t>(rank_)];
  auto& to =
      world_.mailboxes_[static_cast<std::size_t>(peer)].queues[{rank_, tag.communicator, tag.sequence, tag.channel}];
  ThreadWorld::PendingSend send{data, {}, bytes, ticket, bytes <= world_.eager_};
  if (send.eager) {
    const auto* begin = static_cast<const char*>(data);
    send.copy.assign(begin, begin + bytes);
    mine.done.push_back(ticket);
  }
  ++mine.posted;
  to.sends.push_back(std::move(send));
  world_.match(rank_, peer, to);
}

void ThreadTransport::receive(Rank peer, Tag tag, void* data, Bytes bytes, Ticket ticket) {
  const std::lock_guard lock(world_.mutex_);
  auto& mine = world_.mailboxes_[static_cast<std::size_t>(rank_)];
  auto& from = mine.queues[{peer, tag.communicator, tag.sequence, tag.channel}];
  ++mine.posted;
  from.receives.push_back({data, bytes, ticket});
  world_.match(peer, rank_, from);
}

void ThreadTransport::abandon(std::uint32_t operation) {
  const std::lock_guard lock(world_.mutex_);
  auto& mine = world_.mailboxes_[static_cast<std::size_t>(rank_)];
  const auto given_up = [&](const auto& message) { return operation_of(message.ticket) == operation; };
  for (auto& [from, queues] : mine.queues) mine.posted -= std::erase_if(queues.receives, given_up);
  for (auto& mailbox : world_.mailboxes_)
    for (auto& [from, queues] : mailbox.queues) {
      if (std::get<0>(from) != rank_) continue;
      for (auto& send : queues.sends) {
        if (send.eager || !given_up(send)) continue;
        --mine.posted;
        send.copy.assign(static_cast<const char*>(send.data), static_cast<const char*>(send.data) + send.bytes);
        send.eager = true;
      }
    }
  mine.posted -= std::erase_if(mine.done, [&](Ticket ticket) { return operation_of(ticket) == operation; });
}

Outcome ThreadTransport::wait(std::vector<Ticket>& done, const Deadline& deadline) {
  std::unique_lock lock(world_.mutex_);
  auto& mine = world_.mailboxes_[static_cast<std::size_t>(rank_)];
  const auto ready = [&] { return !mine.done.empty() || mine.posted == 0; };
  if (const auto at = deadline.at()) {
    if (!mine.changed.wait_until(lock, *at, ready)) return Outcome::expired;
  } else {
    mine.changed.wait(lock, ready);
  }
  if (mine.overrun) return Outcome::failed;
  mine.posted -= mine.done.size();
  done.insert(done.end(), mine.done.begin(), mine.done.end());
  mine.done.clear();
  return Outcome::ok;
}

}  // namespace stretto::transport

// SPDX-License-Identifier: BSD-3-Clause
#include "transport/threads/threads.hpp"

#include <cstring>

namespace stretto::transport {

void ThreadWorld::match(Rank sender, Rank receiver, Channel& channel) {
  while (!channel.leaving.empty() && !channel.arriving.empty()) {
    Leaving& from = channel.leaving.front();
    Arriving& to = channel.arriving.front();
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
    channel.leaving.pop_front();
    channel.arriving.pop_front();
  }
}

void ThreadTransport::send(Rank peer, Tag tag, const void* data, Bytes bytes, Ticket ticket) {
  const std::lock_guard lock(world_.mutex_);
  auto& mine = world_.mailboxes_[static_cast<std::size_t>(rank_)];
  auto& to =
      world_.mailboxes_[static_cast<std::size_t>(peer)].channels[{rank_, tag.communicator, tag.sequence, tag.channel}];
  ThreadWorld::Leaving leaving{data, {}, bytes, ticket, bytes <= world_.eager_};
  if (leaving.eager) {
    const auto* begin = static_cast<const char*>(data);
    leaving.copy.assign(begin, begin + bytes);
    mine.done.push_back(ticket);
  }
  ++mine.posted;
  to.leaving.push_back(std::move(leaving));
  world_.match(rank_, peer, to);
}

void ThreadTransport::receive(Rank peer, Tag tag, void* data, Bytes bytes, Ticket ticket) {
  const std::lock_guard lock(world_.mutex_);
  auto& mine = world_.mailboxes_[static_cast<std::size_t>(rank_)];
  auto& from = mine.channels[{peer, tag.communicator, tag.sequence, tag.channel}];
  ++mine.posted;
  from.arriving.push_back({data, bytes, ticket});
  world_.match(peer, rank_, from);
}

void ThreadTransport::abandon(std::uint32_t operation) {
  const std::lock_guard lock(world_.mutex_);
  auto& mine = world_.mailboxes_[static_cast<std::size_t>(rank_)];
  const auto given_up = [&](const auto& message) { return operation_of(message.ticket) == operation; };
  for (auto& [from, channel] : mine.channels) mine.posted -= std::erase_if(channel.arriving, given_up);
  for (auto& mailbox : world_.mailboxes_)
    for (auto& [from, channel] : mailbox.channels) {
      if (std::get<0>(from) != rank_) continue;
      for (auto& leaving : channel.leaving) {
        if (leaving.eager || !given_up(leaving)) continue;
        --mine.posted;
        leaving.copy.assign(static_cast<const char*>(leaving.data),
                            static_cast<const char*>(leaving.data) + leaving.bytes);
        leaving.eager = true;
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

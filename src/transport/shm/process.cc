// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/process.hpp"

#include <algorithm>
#include <new>

namespace stretto::transport::shm {

std::unique_ptr<Process> Process::create(Bytes most, std::string& why) {
  auto segment = Segment::create(most, why);
  if (!segment) return nullptr;
  std::unique_ptr<Process> process(new Process(std::move(segment)));
  // Of one thread at least: whoever has told others of its ways must be able to send.
  const auto rooms = process->take_rooms();
  if (!rooms) {
    why = "there is no memory for the messages of a thread";
    return nullptr;
  }
  process->give_back(*rooms);
  return process;
}

Connection* Process::new_connection() {
  const std::lock_guard lock(mutex_);
  return unused_connection();
}

Connection* Process::new_connection(const Card& peer, Refusal& refusal) {
  const std::lock_guard lock(mutex_);
  Mapped& mapped = mappings_[peer.token];
  ++mapped.connections;
  if (!mapped.mapping) mapped.mapping = Mapping::open(peer, refusal.why);
  Connection* connection = mapped.mapping ? unused_connection() : nullptr;
  if (connection) {
    connection->peer = peer.token;
    return connection;
  }
  refusal.full = mapped.mapping != nullptr;
  if (refusal.full) refusal.why = "STRETTO_SHM_MEMORY is used up";
  release(peer.token);
  return nullptr;
}

Connection* Process::unused_connection() {
  const auto drained = std::ranges::find_if(retired_, [](const Connection* c) { return c->drained(); });
  if (drained != retired_.end()) {
    Connection* connection = *drained;
    retired_.erase(drained);
    return connection;
  }
  std::byte* memory = segment_->take(sizeof(Lane) * lanes, segment_->card().bytes / 4);
  if (!memory) return nullptr;
  Half& half = halves_.emplace_back();
  half.lanes = reinterpret_cast<Lane*>(memory);
  for (int l = 0; l < lanes; ++l) half.connection.out[l].open(new (half.lanes + l) Lane, 0);
  return &half.connection;
}

/// One connection less to that process.
void Process::release(const Token& peer) {
  const auto found = mappings_.find(peer);
  if (found != mappings_.end() && --found->second.connections == 0) mappings_.erase(found);
}

Address Process::address(const Connection& connection) const {
  Address address;
  address.lanes = segment_->offset(connection.out[0].lane());
  for (std::size_t l = 0; l < lanes; ++l) address.start[l] = connection.out[l].sent();
  return address;
}

void Process::connect(Connection& connection, const Address& theirs, std::byte* segment, Bell* bell) {
  auto* first = reinterpret_cast<Lane*>(segment + theirs.lanes);
  for (std::size_t l = 0; l < lanes; ++l) connection.in[l].open(first + l, segment, theirs.start[l]);
  connection.bell = bell;
}

void Process::connect(Connection& connection, const Address& theirs) {
  const std::lock_guard lock(mutex_);
  const Mapping& mapping = *mappings_.at(connection.peer).mapping;
  connect(connection, theirs, mapping.memory(), mapping.bell());
}

void Process::retire(Connection* connection) {
  const std::lock_guard lock(mutex_);
  connection->close();
  release(connection->peer);
  retired_.push_back(connection);
}

bool Process::peer_died(const Connection& connection) {
  const std::lock_guard lock(mutex_);
  const auto found = mappings_.find(connection.peer);
  return found != mappings_.end() && found->second.mapping->died();
}

std::optional<Rooms> Process::take_rooms() {
  const std::lock_guard lock(mutex_);
  if (free_rooms_.empty()) {
    // Smaller ones for threads beyond the first few, and where little memory may be shared.
    constexpr std::size_t first_threads = 4;
    const Bytes share = segment_->card().bytes / 64 / 4096 * 4096;
    const Bytes bytes = std::min(room_bytes, share) / (rooms_.size() < first_threads * lanes ? 1 : 4);
    std::byte* memory = bytes > 0 ? segment_->reserve(bytes * lanes) : nullptr;
    if (!memory) return std::nullopt;
    Rooms rooms;
    for (Room*& room : rooms) {
      room = &rooms_.emplace_back(memory, bytes, segment_.get());
      memory += bytes;
    }
    return rooms;
  }
  const Rooms rooms = free_rooms_.back();
  free_rooms_.pop_back();
  return rooms;
}

void Process::give_back(const Rooms& rooms) {
  const std::lock_guard lock(mutex_);
  free_rooms_.push_back(rooms);
}

}  // namespace stretto::transport::shm

// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/process.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "support/memory.hpp"

namespace stretto::transport::shm {
namespace {

/// Maps the first and the last page of a connection's first channel by writing nothing to them: a page that is read
/// first brings up to 15 around it into the resident set, and there are such pages for each peer. The other channels
/// serve long messages.
void touch(const Channel& first) {
  first.slots[0].key.fetch_add(0, std::memory_order_relaxed);
  first.receipts->credits.fetch_add(0, std::memory_order_relaxed);
}

/// Likewise its rooms, by the system, for their sender may be writing. One before Linux 5.14 maps them when they are
/// read.
void map_rooms(const Channel& first) {
  if (first.room_bytes == 0) return;
  constexpr std::uintptr_t page = 4096;
  constexpr int populate_for_writing = 23;  // MADV_POPULATE_WRITE, which older headers lack
  const auto begin = reinterpret_cast<std::uintptr_t>(first.rooms) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(first.room(first.count - 1)) + first.room_bytes;
  madvise(reinterpret_cast<void*>(begin), end - begin, populate_for_writing);
}

Capacity capacity_of(const Connection& connection) {
  const Channel& first = connection.out[0].channel();
  return {static_cast<std::uint32_t>(first.count), static_cast<std::uint32_t>(first.room_bytes)};
}

}  // namespace

std::unique_ptr<Process> Process::create(Bytes most, std::string& why) {
  auto segment = Segment::create(most, why);
  if (!segment) return nullptr;
  std::unique_ptr<Process> process(new Process(std::move(segment)));
  // Of one thread at least: whoever has told others of its connections must be able to send.
  const auto rings = process->take_staging_rings();
  if (!rings) {
    why = "there is no memory for the messages of a thread";
    return nullptr;
  }
  process->return_staging_rings(*rings);
  return process;
}

Connection* Process::new_connection(const Capacity& capacity) {
  const std::lock_guard lock(mutex_);
  return unused_connection(capacity);
}

Connection* Process::new_connection(const SegmentHandle& peer, Refusal& refusal, const Capacity& capacity) {
  const std::lock_guard lock(mutex_);
  Mapped& mapped = mappings_[peer.token];
  ++mapped.connections;
  if (!mapped.mapping) mapped.mapping = Mapping::open(peer, refusal.why);
  Connection* connection = mapped.mapping ? unused_connection(capacity) : nullptr;
  if (connection) {
    connection->peer = peer.token;
    connection->follows = peer.token < segment_->handle().token;
    return connection;
  }
  refusal.full = mapped.mapping != nullptr;
  if (refusal.full) refusal.why = "STRETTO_SHM_MEMORY is used up";
  release(peer.token);
  return nullptr;
}

Connection* Process::unused_connection(const Capacity& capacity) {
  const auto drained =
      std::ranges::find_if(retired_, [&](const Connection* c) { return c->drained() && capacity_of(*c) == capacity; });
  if (drained != retired_.end()) {
    Connection* connection = *drained;
    retired_.erase(drained);
    connection->open_again();
    return connection;
  }
  // It is all zeros, as in empty slots, and not written here: pages that nobody needs stay untouched.
  std::byte* memory = segment_->take(bytes_of_channels(capacity), segment_->handle().bytes / 4);
  if (!memory) return nullptr;
  Connection& connection = connections_.emplace_back();
  for (int l = 0; l < channels; ++l)
    connection.out[l].open(channel_at(reinterpret_cast<Slot*>(memory), l, capacity), 0);
  return &connection;
}

/// One connection less to that process.
void Process::release(const Token& peer) {
  const auto found = mappings_.find(peer);
  if (found != mappings_.end() && --found->second.connections == 0) mappings_.erase(found);
}

Address Process::address(const Connection& connection) const {
  Address address;
  address.channels = segment_->offset(connection.out[0].channel().slots);
  address.capacity = capacity_of(connection);
  for (std::size_t l = 0; l < channels; ++l) address.start[l] = connection.out[l].sent();
  return address;
}

void Process::connect(Connection& connection, const Address& theirs, std::byte* segment, Doorbell* doorbell,
                      std::int64_t process, PeerHeap* heap) {
  auto* first = reinterpret_cast<Slot*>(segment + theirs.channels);
  touch(channel_at(first, 0, theirs.capacity));
  map_rooms(channel_at(first, 0, theirs.capacity));
  for (int l = 0; l < channels; ++l) {
    const Channel channel = channel_at(first, l, theirs.capacity);
    connection.in[l].open(channel, segment, theirs.start[static_cast<std::size_t>(l)], process, heap);
    connection.out[l].set_receiver(process, heap);
  }
  connection.doorbell = doorbell;
  connection.heard = connection.in[0].taken();  // nothing yet
}

Board& Process::board_of(const Connection& connection, Bytes offset) {
  const std::lock_guard lock(mutex_);
  return *reinterpret_cast<Board*>(mappings_.at(connection.peer).mapping->memory() + offset);
}

void Process::connect(Connection& connection, Board& board, std::size_t place) {
  const std::lock_guard lock(mutex_);
  const Mapping& mapping = *mappings_.at(connection.peer).mapping;
  const Address theirs = read_address(board, place);
  connect(connection, theirs, mapping.memory(), mapping.doorbell(), mapping.process(), &mapping.heap());
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

std::optional<Wait> Process::wait_of_peer(const Connection& connection) {
  const std::lock_guard lock(mutex_);
  const auto found = mappings_.find(connection.peer);
  return found != mappings_.end() ? std::optional(found->second.mapping->wait()) : std::nullopt;
}

std::optional<StagingRings> Process::take_staging_rings() {
  const std::lock_guard lock(mutex_);
  if (free_staging_rings_.empty()) {
    // Smaller ones for threads beyond the first few, and where little memory may be shared. That of the first thread
    // for calls in one segment can be longer than what a core's own cache holds.
    constexpr std::size_t first_threads = 4;
    const Bytes share = segment_->handle().bytes / 64 / 4096 * 4096;
    const Bytes most = std::min(staging_bytes, share);
    const Bytes whole = staging_rings_.empty() ? std::max(std::min(2 * own_cache(), 4 * share), most) : 0;
    Bytes bytes = staging_rings_.size() < first_threads * channels ? most : most / 4;
    const auto reserved = [&] {
      return bytes > 0 ? segment_->reserve(bytes * channels + std::max<Bytes>(whole - bytes, 0)) : nullptr;
    };
    std::byte* memory = reserved();
    if (!memory && bytes == most) {
      bytes = most / 4;
      memory = reserved();
    }
    if (!memory) return std::nullopt;
    StagingRings rings;
    for (StagingRing*& ring : rings) {
      const Bytes around = &ring == &rings[0] ? whole : 0;
      ring = &staging_rings_.emplace_back(memory, bytes, segment_.get(), around);
      memory += std::max(bytes, around);
    }
    return rings;
  }
  const StagingRings rings = free_staging_rings_.back();
  free_staging_rings_.pop_back();
  return rings;
}

void Process::return_staging_rings(const StagingRings& rings) {
  const std::lock_guard lock(mutex_);
  free_staging_rings_.push_back(rings);
}

}  // namespace stretto::transport::shm

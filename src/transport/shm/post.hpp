// SPDX-License-Identifier: BSD-3-Clause
//
// How a message leaves for ranks of this node: in a slot or its room, through the staging ring, or lent to be copied by
// the kernel. It leaves whole or not at all.
#pragma once

#include <span>

#include "transport/shm/access_selectors.hpp"
#include "transport/shm/staging_ring.hpp"

namespace stretto::transport::shm {

/// What a rank needs to reach the ranks of its node.
struct Neighbours {
  std::span<Connection* const> connections;  ///< by rank; null: on another node, or myself
  StagingRings staging{};                    ///< of the calling thread
  Doorbell* doorbell = nullptr;              ///< of this process
  const std::byte* segment = nullptr;        ///< of this process
  WaitPolicy policy = {};
  const HeapRange* heap = nullptr;  ///< of this process, once it has one; null: never
  std::uint32_t communicator = 0;   ///< tells those apart that have connections of their own; on this rank alone

  bool in_heap(const std::byte* memory, Bytes bytes) const { return heap && heap->contains(memory, bytes); }
  /// Of what an operation with this key stages, see StagingRing.
  std::uint64_t owner(std::uint64_t key) const { return std::uint64_t{communicator} << 32 | communicator_of(key); }
  Bytes offset(const std::byte* memory) const { return memory - segment; }
};

/// Does a message travel in its slot or the slot's room? One that does not fit in the slot is written once for several.
inline bool goes_inline(const Outbox& box, Bytes bytes, std::uint32_t readers) {
  return bytes <= inline_payload || (readers == 1 && bytes <= box.most_inline());
}

/// A fragment of a message, no longer than Outbox::most_inline(), which pack(to) writes. False: no slot is free.
template <typename Pack>
bool post_inline(Connection& peer, int channel, std::uint64_t key, Bytes bytes, Pack pack, bool last = true) {
  Outbox& box = peer.out[channel];
  if (box.full()) return false;
  Slot& slot = box.next();
  slot.bytes = static_cast<std::uint32_t>(bytes);
  slot.carried = Carried::inlined;
  slot.last = last;
  pack(box.place(bytes));
  box.post(key);
  ring(peer.doorbell);
  return true;
}

/// A message that lies in one piece at `message`, to be copied from there: it has left when the returned fragment is
/// released, and was not refused. 0: no slot is free.
inline std::uint64_t post_lent(Connection& peer, int channel, std::uint64_t key, const std::byte* message, Bytes bytes,
                               Help helps) {
  Outbox& box = peer.out[channel];
  if (box.full()) return 0;
  box.next().lend(message, bytes, helps);
  box.post(key);
  ring(peer.doorbell);
  return box.sent();
}

/// What a receiver has told of reading, if it does. Where ranks share cores its times are those of other ranks' turns.
inline const ReadingCosts* reading_costs(const Neighbours& node, const Outbox& box) {
  return node.policy.polls > 1 ? box.reading() : nullptr;
}

/// Does a message that takes so many bytes, and is written in fragments of so many, go around the staging ring?
inline bool goes_around(const Neighbours& node, const StagingRing& staging, StoreSelector& stores, Bytes bytes,
                        Bytes fragment) {
  return staging.may_go_around() && node.policy.polls > 1 && stores.goes_around(bytes, fragment);
}

/// A message to peer(0) … peer(readers - 1), all different, written once by write(to, new_pages, around), which returns
/// how. False: one of them has no free slot, or the staging ring is full. `again`: at its beginning if all in it has
/// been read, for this core's cache holds that.
template <typename Peer, typename Write>
bool post_written(const Neighbours& node, StoreSelector& stores, int channel, std::uint64_t key, Bytes bytes,
                  std::uint32_t readers, bool again, Peer peer, Write write) {
  for (std::uint32_t r = 0; r < readers; ++r)
    if (peer(r).out[channel].full()) return false;
  StagingRing& staging = *node.staging[static_cast<std::size_t>(channel)];
  const bool around = !again && goes_around(node, staging, stores, bytes, bytes);
  std::byte* memory = staging.take(bytes, around, again);
  if (!memory) return false;
  const Storing how = write(memory, staging.has_new_pages(), around);
  for (std::uint32_t r = 0; r < readers; ++r) {
    Connection& reader = peer(r);
    Outbox& box = reader.out[channel];
    box.next().refer(node.offset(memory), bytes, true, how);
    box.post(key);
    reader.note_staged(channel);
    staging.add_reference(box, box.sent(), node.owner(key), r + 1 == readers);
    ring(reader.doorbell);
  }
  return true;
}

/// The same by pack(to, storing). `typical`: what it takes is to be noted, if that is measured.
template <typename Peer, typename Pack>
bool post_staged(const Neighbours& node, StoreSelector& stores, int channel, std::uint64_t key, Bytes bytes,
                 std::uint32_t readers, bool again, Peer peer, Pack pack, bool typical = true) {
  const auto write = [&](std::byte* memory, bool new_pages, bool around) {
    Storing how = stores.run(bytes, new_pages, around, reading_costs(node, peer(0).out[channel]),
                             [&](const Storing& storing) { pack(memory, storing); });
    how.typical = how.typical && typical;
    return how;
  };
  return post_written(node, stores, channel, key, bytes, readers, again, peer, write);
}

}  // namespace stretto::transport::shm

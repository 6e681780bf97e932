// SPDX-License-Identifier: BSD-3-Clause
//
// How a message leaves for ranks of this node: in a line, or through the room. Both leave whole or not at all.
#pragma once

#include "transport/shm/node.hpp"
#include "transport/shm/stores.hpp"

namespace stretto::transport::shm {

/// A part of a message, of at most inline_payload bytes, which pack(to) writes. False: no line is free.
template <typename Pack>
bool post_inline(Connection& peer, int lane, std::uint64_t key, Bytes bytes, Pack pack, bool last = true) {
  Outbox& box = peer.out[lane];
  if (box.full()) return false;
  Line& line = box.next();
  line.bytes = static_cast<std::uint32_t>(bytes);
  line.inlined = 1;
  line.last = last;
  pack(line.payload);
  box.post(key);
  ring_bell(peer.bell);
  return true;
}

/// A message to peer(0) … peer(readers - 1), all different, written once by pack(to, streams). False: one of them has
/// no free line, or there is no room.
template <typename Peer, typename Pack>
bool post_by_room(const Neighbours& node, Stores& stores, int lane, std::uint64_t key, Bytes bytes,
                  std::uint32_t readers, Peer peer, Pack pack) {
  for (std::uint32_t r = 0; r < readers; ++r)
    if (peer(r).out[lane].full()) return false;
  Room& room = *node.rooms[static_cast<std::size_t>(lane)];
  std::byte* memory = room.take(bytes);
  if (!memory) return false;
  stores.write(bytes, [&](bool streams) { pack(memory, streams); });
  for (std::uint32_t r = 0; r < readers; ++r) {
    Connection& reader = peer(r);
    Outbox& box = reader.out[lane];
    box.next().refer(node.offset(memory), bytes, true);
    box.post(key);
    room.lend(box, box.sent(), key, r + 1 == readers);
    ring_bell(reader.bell);
  }
  return true;
}

}  // namespace stretto::transport::shm

// SPDX-License-Identifier: BSD-3-Clause
//
// An operation's side of shared memory: ranks of this node.
//
// No message of a round waits for another one of the same round: each is sure of its place in the room. So what the
// checker proves under rendezvous holds here, too. Nor does it wait for long for what other operations have in the
// room: their readers may come after this operation, so that it goes by lines, which are of one connection only.
#include <algorithm>
#include <cstring>
#include <utility>

#include "execute/operation.hpp"

namespace stretto::execute {
namespace {

using transport::shm::Connection;
using transport::shm::inline_payload;
using transport::shm::Outbox;
using transport::shm::Part;
using transport::shm::post_by_room;
using transport::shm::post_inline;
using transport::shm::Room;

}  // namespace

/// Neighbouring messages with the same blocks become one, which all their receivers read.
void Operation::send_to_neighbours(Instance& in, const Program::Stage& stage) {
  in.unsent.clear();
  const auto& sends = in.program->sends;
  if (const std::uint32_t n = stage.end_of_sends - stage.first_send; n <= 1) {
    if (n == 0 || !neighbour(sends[stage.first_send].peer)) return;
    Departure only{.send = stage.first_send, .readers = 1};
    const Bytes bytes = sends[stage.first_send].bytes;
    if (bytes <= paths_.node->rooms[in.lane]->bytes() / 2) {
      if (!depart(in, only)) in.unsent.push_back(only);
      return;
    }
  }
  queue_sends(in, stage.first_send, stage.end_of_sends);
  if (!in.unsent.empty()) pump(in);
}

void Operation::queue_sends(Instance& in, std::uint32_t first, std::uint32_t end) {
  const auto& sends = in.program->sends;
  const Room& room = *paths_.node->rooms[in.lane];
  Bytes all = 0;
  Bytes largest = 0;
  for (std::uint32_t s = first; s < end;) {
    Departure d{.send = s, .readers = 0};
    const auto alike = static_cast<std::uint32_t>(sends[s].alike);
    ++pass_;
    for (; d.readers < alike; ++d.readers) {
      const Rank peer = sends[s + d.readers].peer;
      // Readers are different ranks: one that gets the same blocks again may have no line left for the second message.
      if (!neighbour(peer) || std::exchange(blocked_[static_cast<std::size_t>(peer)], pass_) == pass_) break;
    }
    s += std::max<std::uint32_t>(d.readers, 1);
    if (d.readers == 0) continue;
    in.unsent.push_back(d);
    if (sends[d.send].bytes <= inline_payload) continue;
    all += Room::rounded(sends[d.send].bytes);
    largest = std::max(largest, sends[d.send].bytes);
  }
  if (all > room.capacity(largest)) cut_into_pieces(in, room.bytes());
}

/// No message of these for several readers is left.
void Operation::one_by_one(std::vector<Departure>& unsent) {
  std::vector<Departure> single;
  for (Departure d : unsent) {
    const std::uint32_t readers = std::exchange(d.readers, 1);
    for (std::uint32_t r = 0; r < readers; ++r, ++d.send) single.push_back(d);
  }
  unsent.swap(single);
}

/// Messages that do not fit into the room together get a window each, where their parts take turns. Every receiver has
/// a window of its own: it must not have to wait until another one has read.
void Operation::cut_into_pieces(Instance& in, Bytes room) {
  one_by_one(in.unsent);
  const Bytes window = std::max<Bytes>(room / 2 / static_cast<Bytes>(in.unsent.size()) / 64 * 64, 64);
  for (Departure& d : in.unsent)
    if (in.program->sends[d.send].bytes > window) d.window = window;
}

/// Posts what can be posted. A message does not overtake another one to the same rank, but does not wait for those to
/// other ranks.
bool Operation::pump(Instance& in) {
  bool moved = false;
  ++pass_;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < in.unsent.size(); ++i) {
    Departure d = in.unsent[i];
    const auto peers = [&](auto use) {
      for (std::uint32_t s = d.send; s < d.send + d.readers; ++s)
        if (use(blocked_[static_cast<std::size_t>(in.program->sends[s].peer)])) return true;
      return false;
    };
    const bool waits = kept > 0 && peers([&](std::uint64_t pass) { return pass == pass_; });
    const std::uint64_t before = d.pieces + d.send;
    if (!waits && depart(in, d)) {
      moved = true;
      continue;
    }
    moved |= d.pieces + d.send != before;
    peers([&](std::uint64_t& pass) { return pass = pass_, false; });
    in.unsent[kept++] = d;
  }
  in.unsent.resize(kept);
  return moved;
}

/// True: the whole message is posted.
bool Operation::depart(Instance& in, Departure& d) {
  const Program::Outgoing* send = &in.program->sends[d.send];
  if (d.by_lines) return depart_by_lines(in, d);
  if (d.window > 0) return depart_in_pieces(in, d);
  const Bytes bytes = send->bytes;
  Nanoseconds begin = 0;
  if (bytes <= inline_payload) {
    for (; d.readers > 0; --d.readers, ++d.send, ++send) {
      const auto pack = [&](std::byte* to) {
        begin = seen(send->peer);
        in.buffers.pack(send->blocks, 0, bytes, to);
      };
      if (!post_inline(*neighbour(send->peer), in.lane, key_, bytes, pack)) return false;
      done(begin, Activity::send, send->peer, bytes, in);
    }
    return true;
  }
  const auto peer = [&](std::uint32_t r) -> Connection& { return *neighbour(send[r].peer); };
  const auto pack = [&](std::byte* to, bool streams) {
    begin = seen(send->peer);
    in.buffers.pack(send->blocks, 0, bytes, to, streams);
  };
  if (!post_by_room(*paths_.node, stores_, in.lane, key_, bytes, d.readers, peer, pack)) return false;
  for (std::uint32_t r = 0; r < d.readers; ++r, begin = seen()) done(begin, Activity::send, send[r].peer, bytes, in);
  return true;
}

bool Operation::depart_in_pieces(Instance& in, Departure& d) {
  const Program::Outgoing& send = in.program->sends[d.send];
  const Element& element = work_.element;
  Connection& peer = *neighbour(send.peer);
  Outbox& box = peer.out[in.lane];
  Bytes piece = std::max<Bytes>(d.window / pieces_of_window / 64 * 64, 64);
  const bool whole_elements = element.size <= piece;
  if (whole_elements) piece -= piece % element.size;
  const auto slots = static_cast<std::uint64_t>(std::min(pieces_of_window, d.window / piece));
  if (!d.memory) {
    Room& room = *paths_.node->rooms[in.lane];
    d.memory = room.take(d.window);
    if (!d.memory) return false;
    d.loan = room.lend(box, Room::not_posted, key_, true);
    if (!whole_elements && !element.dense) {
      std::byte* packed = in.arena.take(send.bytes);
      in.buffers.pack(send.blocks, 0, send.bytes, packed);
      d.packed = packed;
    }
  }
  for (; d.posted < send.bytes; ++d.pieces) {
    if (box.full()) return false;
    std::uint64_t& number = d.numbers[d.pieces % slots];  // of the piece that was here before
    if (d.pieces >= slots && !box.taken(number)) return false;
    const Nanoseconds begin = seen(send.peer);
    const Bytes bytes = std::min(piece, send.bytes - d.posted);
    std::byte* memory = d.memory + static_cast<Bytes>(d.pieces % slots) * piece;
    if (d.packed)
      std::memcpy(memory, d.packed + d.posted, static_cast<std::size_t>(bytes));
    else
      stores_.write(bytes, [&](bool streams) { in.buffers.pack(send.blocks, d.posted, bytes, memory, streams); });
    d.posted += bytes;
    box.next().refer(paths_.node->offset(memory), bytes, d.posted == send.bytes);
    box.post(key_);
    number = box.sent();
    if (d.posted == send.bytes) paths_.node->rooms[in.lane]->posted(d.loan, number);
    ring_bell(peer.bell);
    done(begin, Activity::send, send.peer, bytes, in);
  }
  return true;
}

/// In parts that fit into lines: slowly, but without the room.
bool Operation::depart_by_lines(Instance& in, Departure& d) {
  const Program::Outgoing& send = in.program->sends[d.send];
  const Element& element = work_.element;
  Bytes part = inline_payload;
  if (element.size <= part) {
    part -= part % element.size;
  } else if (!element.dense && !d.packed) {
    std::byte* packed = in.arena.take(send.bytes);
    in.buffers.pack(send.blocks, 0, send.bytes, packed);
    d.packed = packed;
  }
  while (d.posted < send.bytes) {
    const Nanoseconds begin = seen(send.peer);
    const Bytes bytes = std::min(part, send.bytes - d.posted);
    const auto pack = [&](std::byte* to) {
      if (d.packed)
        std::memcpy(to, d.packed + d.posted, static_cast<std::size_t>(bytes));
      else
        in.buffers.pack(send.blocks, d.posted, bytes, to);
    };
    if (!post_inline(*neighbour(send.peer), in.lane, key_, bytes, pack, d.posted + bytes == send.bytes)) return false;
    d.posted += bytes;
    done(begin, Activity::send, send.peer, bytes, in);
  }
  return true;
}

/// In a long wait: messages that have not left because the room is full of what others' readers do not take.
void Operation::make_room(Instance& in) {
  if (in.unsent.empty()) return;
  if (!paths_.node->rooms[in.lane]->keep_others(key_) || pump(in)) return;
  one_by_one(in.unsent);
  for (Departure& d : in.unsent)
    if (!d.memory && in.program->sends[d.send].bytes > inline_payload) d.by_lines = true;
}

/// Takes what has come of the message of a step. True: it is complete. Out of order it is put aside, unless it only has
/// to be stored. One of another size than awaited is taken and dropped: the call fails, but other ranks, which may know
/// nothing of it, get the messages they wait for. `resting`: other operations' messages are put aside.
bool Operation::take(Instance& in, std::uint32_t index, bool in_order, bool resting) {
  const Program::Step& step = in.program->steps[index];
  Arrival& arrival = in.arrivals[index - in.program->stages[in.round].first_step];
  Connection& peer = *neighbour(step.peer);
  auto& box = peer.in[in.lane];
  for (;;) {
    const Part part = box.next(key_);
    if (!part) {
      if (!resting || !box.put_aside(key_)) return false;
      ring_bell(peer.bell);
      continue;
    }
    const Bytes bytes = part.bytes;
    if ((arrival.got + bytes == step.bytes) != part.last || arrival.got + bytes > step.bytes)
      failed_ = arrival.dropped = true;
    const Nanoseconds begin = seen(step.peer, true);
    if (!in_order && step.kind == ActionKind::receive_reduce && arrival.got == 0 && !arrival.dropped)
      arrival.bounce = in.arena.take(step.bytes);
    if (arrival.dropped)
      arrival.got += bytes;
    else if (bytes > 0)
      deliver(in, step, arrival, part.content, bytes);
    arrival.complete = part.last;
    if (box.release(key_, part)) ring_bell(peer.bell);
    const bool combined = step.kind == ActionKind::receive_reduce && !arrival.bounce;
    done(begin, combined ? Activity::reduce : Activity::receive, step.peer, bytes, in);
    if (arrival.complete) return true;
  }
}

/// Makes room for others' messages while the one that is next in order does not come: theirs may depend on it.
bool Operation::drain(Instance& in) {
  if (in.round == in.program->stages.size()) return false;
  const Program::Stage& stage = in.program->stages[in.round];
  bool moved = false;
  ++pass_;
  for (std::uint32_t s = in.step; s < stage.end_of_steps; ++s) {
    const Program::Step& step = in.program->steps[s];
    if (!is_receive(step.kind)) continue;
    Arrival& arrival = in.arrivals[s - stage.first_step];
    if (arrival.complete || !neighbour(step.peer)) continue;
    std::uint64_t& blocked = blocked_[static_cast<std::size_t>(step.peer)];
    if (blocked == pass_) continue;  // an earlier message of this rank comes first
    const Bytes got = arrival.got;
    const bool complete = take(in, s, s == in.step && !held(in, step), true);
    moved |= complete || arrival.got != got;
    if (!complete) blocked = pass_;
  }
  return moved;
}

}  // namespace stretto::execute

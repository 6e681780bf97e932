// SPDX-License-Identifier: BSD-3-Clause
//
// An operation's side of shared memory: ranks of this node.
//
// Progress: no message of a round waits for another one of the same round, because each is sure of its part of the
// staging ring. So what the checker proves under rendezvous holds here, too. Nor does a message wait for long for what
// other operations have in the staging ring. Their readers may come only after this operation; then it goes in slots,
// which belong to one connection alone.
#include <algorithm>
#include <cstring>
#include <utility>

#include "execute/operation.hpp"
#include "support/memory.hpp"

namespace stretto::execute {
/// Neighbouring messages with the same blocks become one, which all their receivers read.
void Operation::send_to_neighbours(Instance& in, const Plan::Stage& stage) {
  in.unsent.clear();
  const auto& sends = in.plan->sends;
  if (std::exchange(in.forwarded, false)) {
    const Plan::Outgoing& send = sends[stage.first_send];
    return done(seen(send.peer), Activity::send, send.peer, send.bytes, in);
  }
  if (const std::uint32_t n = stage.end_of_sends - stage.first_send; n <= 1) {
    if (n == 0 || !neighbour(sends[stage.first_send].peer)) return;
    SendState only{.send = stage.first_send, .readers = 1};
    const Bytes bytes = sends[stage.first_send].bytes;
    if (bytes <= paths_.node->staging[in.channel]->bytes() / 2) {
      choose_copy(in, only);
      in.unsent.push_back(only);  // what it takes of the ring is known there if packing throws
      if (try_send(in, in.unsent[0])) in.unsent.clear();
      return;
    }
  }
  queue_sends(in, stage.first_send, stage.end_of_sends);
  if (!in.unsent.empty()) pump(in);
}

void Operation::queue_sends(Instance& in, std::uint32_t first, std::uint32_t end) {
  const auto& sends = in.plan->sends;
  const shm::StagingRing& staging = *paths_.node->staging[in.channel];
  Bytes all = 0;
  Bytes largest = 0;
  for (std::uint32_t s = first; s < end;) {
    SendState state{.send = s, .readers = 0};
    if (neighbour(sends[s].peer)) choose_copy(in, state);
    const auto alike = state.lend ? 1 : static_cast<std::uint32_t>(sends[s].alike);
    ++pass_;
    for (; state.readers < alike; ++state.readers) {
      const Rank peer = sends[s + state.readers].peer;
      // Readers are different ranks: one that gets the same blocks again may have no slot left for the second message.
      if (!neighbour(peer) || std::exchange(blocked_[static_cast<std::size_t>(peer)], pass_) == pass_) break;
    }
    s += std::max<std::uint32_t>(state.readers, 1);
    if (state.readers == 0) continue;
    in.unsent.push_back(state);
    const Bytes bytes = sends[state.send].bytes;
    if (bytes <= shm::inline_payload) continue;
    all += std::max(shm::StagingRing::rounded(bytes), state.window);
    largest = std::max({largest, bytes, state.window});
  }
  if (all > staging.capacity(largest)) cut_into_fragments(in, staging.bytes());
}

/// No message of these for several readers is left.
void Operation::one_by_one(std::vector<SendState>& unsent) {
  std::vector<SendState> single;
  for (SendState state : unsent) {
    const std::uint32_t readers = std::exchange(state.readers, 1);
    for (std::uint32_t r = 0; r < readers; ++r, ++state.send) single.push_back(state);
  }
  unsent.swap(single);
}

/// Messages that do not fit into the staging ring together get a window of it each, where their fragments take turns.
/// Every receiver has a window of its own: it must not have to wait until another one has read.
void Operation::cut_into_fragments(Instance& in, Bytes staging) {
  one_by_one(in.unsent);
  const Bytes window = std::max<Bytes>(staging / 2 / static_cast<Bytes>(in.unsent.size()) / 64 * 64, 64);
  for (SendState& state : in.unsent) state.window = in.plan->sends[state.send].bytes > window ? window : 0;
}

/// Posts what can be posted. A message does not overtake another one to the same rank, but does not wait for those to
/// other ranks. If packing throws, each still stands in the list once.
bool Operation::pump(Instance& in) {
  bool moved = false;
  ++pass_;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < in.unsent.size(); ++i) {
    SendState& state = in.unsent[i];
    const auto peers = [&](auto use) {
      for (std::uint32_t s = state.send; s < state.send + state.readers; ++s)
        if (use(blocked_[static_cast<std::size_t>(in.plan->sends[s].peer)])) return true;
      return false;
    };
    const bool waits = kept > 0 && state.lent == 0 && peers([&](std::uint64_t pass) { return pass == pass_; });
    const std::uint64_t before = state.fragments + state.send + state.lent;
    if (!waits && try_send(in, state)) {
      moved = true;
      state = {};
      continue;
    }
    moved |= state.fragments + state.send + state.lent != before;
    peers([&](std::uint64_t& pass) { return pass = pass_, false; });
    if (kept != i) in.unsent[kept] = std::exchange(state, {});
    ++kept;
  }
  in.unsent.resize(kept);
  return moved;
}

/// A part of a message into the staging ring, timed if that helps to choose how others go.
void Operation::pack_staged(Instance& in, const SendState& state, Part part, std::byte* to,
                            const shm::Storing& storing) {
  const Plan::Outgoing* send = &in.plan->sends[state.send];
  const auto pack = [&] { in.buffers.pack(send->blocks, part.first, part.bytes, to, storing.non_temporal); };
  if (!state.timed || !storing.typical) return pack();
  const float seconds = shm::seconds_of(pack) / static_cast<float>(part.bytes * state.readers);
  for (std::uint32_t r = 0; r < state.readers; ++r) neighbour(send[r].peer)->selector.packed(send->bytes, seconds);
}

/// True: the whole message is posted.
bool Operation::try_send(Instance& in, SendState& state) {
  const Plan::Outgoing* send = &in.plan->sends[state.send];
  if (state.lend) return try_lend(in, state);
  if (state.in_slots) return try_send_in_slots(in, state);
  if (state.window > 0) return try_send_in_fragments(in, state);
  const Bytes bytes = send->bytes;
  Nanoseconds begin = 0;
  if (shm::goes_inline(neighbour(send->peer)->out[in.channel], bytes, state.readers)) {
    for (; state.readers > 0; --state.readers, ++state.send, ++send) {
      const auto pack = [&](std::byte* to) {
        begin = seen(send->peer);
        in.buffers.pack(send->blocks, 0, bytes, to);
      };
      if (!shm::post_inline(*neighbour(send->peer), in.channel, key_, bytes, pack)) return false;
      done(begin, Activity::send, send->peer, bytes, in);
    }
    return true;
  }
  const Plan::Stage& stage = in.plan->stages[in.round];
  const bool alone = stage.end_of_sends - stage.first_send == 1;
  if (alone && runs_ahead(in)) return false;
  const auto peer = [&](std::uint32_t r) -> shm::Connection& { return *neighbour(send[r].peer); };
  const auto pack = [&](std::byte* to, const shm::Storing& storing) {
    begin = seen(send->peer);
    pack_staged(in, state, {0, bytes}, to, storing);
  };
  if (!shm::post_staged(*paths_.node, selectors_.stores, in.channel, key_, bytes, state.readers, alone && shares_core(),
                        peer, pack))
    return false;
  if (alone) note_sent(in, peer(0).out[in.channel]);
  for (std::uint32_t r = 0; r < state.readers; ++r, begin = seen())
    done(begin, Activity::send, send[r].peer, bytes, in);
  return true;
}

bool Operation::try_send_in_fragments(Instance& in, SendState& state) {
  const Plan::Outgoing& send = in.plan->sends[state.send];
  const Element& element = work_.element;
  shm::Connection& peer = *neighbour(send.peer);
  shm::Outbox& box = peer.out[in.channel];
  Bytes fragment_bytes = std::max<Bytes>(state.window / fragments_of_window / 64 * 64, 64);
  const bool whole_elements = element.size <= fragment_bytes;
  if (whole_elements) fragment_bytes -= fragment_bytes % element.size;
  const auto places = static_cast<std::uint64_t>(std::min(fragments_of_window, state.window / fragment_bytes));
  if (!state.packed && !whole_elements && !element.dense)
    state.packed = in.buffers.gathered(send.blocks, send.bytes, in.arena);
  if (!state.memory) {
    shm::StagingRing& staging = *paths_.node->staging[in.channel];
    state.around = shm::goes_around(*paths_.node, staging, selectors_.stores, state.window, fragment_bytes);
    state.memory = staging.take(state.window, state.around);
    if (!state.memory) return false;
    state.new_pages = staging.has_new_pages();
    state.reference = staging.add_reference(box, shm::StagingRing::not_posted, paths_.node->owner(key_), true);
  }
  for (; state.posted < send.bytes; ++state.fragments) {
    if (box.full()) return false;
    std::uint64_t& number = state.numbers[state.fragments % places];  // of the fragment that was here before
    if (state.fragments >= places && !box.released(number)) return false;
    const Nanoseconds begin = seen(send.peer);
    const Bytes bytes = std::min(fragment_bytes, send.bytes - state.posted);
    std::byte* memory = state.memory + static_cast<Bytes>(state.fragments % places) * fragment_bytes;
    const bool new_pages = state.new_pages && state.fragments < places;
    shm::Storing how{.typical = !new_pages};
    if (state.packed)
      copy_bytes(memory, state.packed + state.posted, bytes);
    else
      how = selectors_.stores.run(
          bytes, new_pages, state.around, shm::reading_costs(*paths_.node, box),
          [&](const shm::Storing& storing) { pack_staged(in, state, {state.posted, bytes}, memory, storing); });
    state.posted += bytes;
    box.next().refer(paths_.node->offset(memory), bytes, state.posted == send.bytes, how);
    box.post(key_);
    peer.note_staged(in.channel);
    number = box.sent();
    if (state.posted == send.bytes) paths_.node->staging[in.channel]->posted(state.reference, number);
    ring(peer.doorbell);
    done(begin, Activity::send, send.peer, bytes, in);
  }
  return true;
}

/// When their receivers have taken what has left of these messages.
void Operation::give_windows_back(Instance& in) {
  for (const SendState& state : in.unsent)
    if (state.memory)
      paths_.node->staging[in.channel]->posted(state.reference,
                                               neighbour(in.plan->sends[state.send].peer)->out[in.channel].sent());
}

/// In fragments that fit into slots: slowly, but without the staging ring.
bool Operation::try_send_in_slots(Instance& in, SendState& state) {
  const Plan::Outgoing& send = in.plan->sends[state.send];
  const Element& element = work_.element;
  Bytes fragment = neighbour(send.peer)->out[in.channel].most_inline();
  if (element.size <= fragment)
    fragment -= fragment % element.size;
  else if (!element.dense && !state.packed)
    state.packed = in.buffers.gathered(send.blocks, send.bytes, in.arena);
  while (state.posted < send.bytes) {
    const Nanoseconds begin = seen(send.peer);
    const Bytes bytes = std::min(fragment, send.bytes - state.posted);
    const auto pack = [&](std::byte* to) {
      if (state.packed)
        std::memcpy(to, state.packed + state.posted, static_cast<std::size_t>(bytes));
      else
        in.buffers.pack(send.blocks, state.posted, bytes, to);
    };
    if (!shm::post_inline(*neighbour(send.peer), in.channel, key_, bytes, pack, state.posted + bytes == send.bytes))
      return false;
    state.posted += bytes;
    done(begin, Activity::send, send.peer, bytes, in);
  }
  return true;
}

/// In a long wait: messages that have not left because the staging ring is full of what others' readers do not take.
void Operation::unblock_sends(Instance& in) {
  if (in.unsent.empty() || runs_ahead(in)) return;
  if (!paths_.node->staging[in.channel]->detach_others(paths_.node->owner(key_)) || pump(in)) return;
  one_by_one(in.unsent);
  for (SendState& state : in.unsent) {
    const Plan::Outgoing& send = in.plan->sends[state.send];
    const shm::Outbox& box = neighbour(send.peer)->out[in.channel];
    if (!state.memory && !state.lend && send.bytes > box.most_inline()) state.in_slots = true;
  }
}

/// Has this rank nothing to do in the round but to take one message, on a core of its own?
bool Operation::takes_one(const Instance& in) const {
  const Plan::Stage& stage = in.plan->stages[in.round];
  return !work_.oversubscribed && stage.first_send == stage.end_of_sends && stage.receives == 1;
}

/// Timed, if that helps the sender to choose how other messages go. `next`: what is combined may leave to it at once.
shm::Copied Operation::take_content(Instance& in, const Plan::Step& step, ReceiveState& receive, shm::Inbox& box,
                                    const shm::Fragment& fragment, shm::Connection* next) {
  if (receive.dropped) {
    receive.got += fragment.bytes;
    return shm::Copied::all;
  }
  const auto take = [&] {
    if (next && forward(in, step, receive, box, fragment, *next)) return shm::Copied::all;
    if (fragment.carried == shm::Carried::lent) return take_lent(in, step, receive, box, fragment);
    const bool in_ring = fragment.in_ring();
    const auto read = [&] { deliver(in, step, receive, fragment.content, fragment.bytes, in_ring); };
    if (fragment.bytes > 0) in_ring ? box.read(fragment, read) : read();
    return shm::Copied::all;
  };
  if (!work_.measures(step.bytes) || takes_one(in)) return take();
  shm::Copied copied{};
  receive.copying += shm::seconds_of([&] { copied = take(); });
  return copied;
}

/// Does the sender of this message get one of about the same size in this round?
bool Operation::is_exchanged(const Instance& in, const Plan::Step& step) {
  const Plan::Stage& stage = in.plan->stages[in.round];
  const auto begin = in.plan->sends.begin();
  return std::any_of(begin + stage.first_send, begin + stage.end_of_sends, [&](const Plan::Outgoing& send) {
    return send.peer == step.peer && shm::size_class(send.bytes) == shm::size_class(step.bytes);
  });
}

/// Tells the sender what the message took: its copies if there was something else to do meanwhile, else the time from
/// when it was first looked for.
void Operation::note_cost(Instance& in, const Plan::Step& step, const ReceiveState& receive,
                          const shm::Fragment& last) {
  shm::Inbox& first_channel = neighbour(step.peer)->in[0];
  if (!work_.measures(step.bytes) || receive.dropped || last.carried == shm::Carried::inlined) return;
  // It has its credit already: the sender may have given the channel to another receiver.
  if (last.unexpected) return;
  if (last.carried == shm::Carried::lent && first_channel.in_place(last)) return;
  shm::Connection& peer = *neighbour(step.peer);
  if (peer.follows && is_exchanged(in, step)) peer.selector.came(step.bytes, last.carried == shm::Carried::lent);
  if (last.carried == shm::Carried::staged && !last.typical) return;
  const auto since = [&] { return std::chrono::duration<float>(std::chrono::steady_clock::now() - receive.began); };
  const float seconds = takes_one(in) ? since().count() : receive.copying;
  // Of what the sender copied too, where that took time from the same cores. The end of a message says nothing.
  const Bytes copied = work_.oversubscribed && last.carried == shm::Carried::lent ? receive.copied : step.bytes;
  if (copied < std::min(step.bytes, shm::least_shared / 2)) return;
  first_channel.took(last.carried, step.bytes, seconds / static_cast<float>(copied));
}

/// Takes what has come of the message of a step. True: it is complete. Out of order it is bounced, unless it only has
/// to be stored. One of another size than awaited is taken and dropped: the call fails, but other ranks, which may know
/// nothing of it, get the messages they wait for. `yielding`: other operations' messages go to the
/// unexpected-message buffer.
bool Operation::take(Instance& in, std::uint32_t index, bool in_order, bool yielding) {
  const Plan::Step& step = in.plan->steps[index];
  ReceiveState& receive = in.receives[index - in.plan->stages[in.round].first_step];
  shm::Connection& peer = *neighbour(step.peer);
  auto& box = peer.in[in.channel];
  if (work_.measures(step.bytes) && receive.began == decltype(receive.began){} && takes_one(in))
    receive.began = std::chrono::steady_clock::now();
  for (;;) {
    const shm::Fragment fragment = box.next(key_);
    if (!fragment) {
      if (!yielding || !box.buffer_unexpected(key_)) return false;
      ring(peer.doorbell);
      continue;
    }
    const Bytes bytes = fragment.bytes;
    if ((receive.got + bytes == step.bytes) != fragment.last || receive.got + bytes > step.bytes)
      failed_ = receive.dropped = true;
    shm::Connection* const next = in_order ? next_of(in, step, receive, fragment) : nullptr;
    if (next && runs_ahead(in)) return false;  // combined now it could not leave, and would have to be copied later
    const Nanoseconds begin = seen(step.peer, true);
    if (!in_order && step.kind == ActionKind::receive_reduce && receive.got == 0 && !receive.bounce && !receive.dropped)
      receive.bounce = in.arena.take(step.bytes);
    const shm::Copied copied = take_content(in, step, receive, box, fragment, next);
    if (copied == shm::Copied::in_part) return false;
    const bool withdrawn = fragment.carried == shm::Carried::lent && box.was_withdrawn();
    if (copied == shm::Copied::refused && !withdrawn) {
      box.refuse();
      ring(peer.doorbell);
      continue;
    }
    if (withdrawn) failed_ = receive.dropped = true;
    receive.complete = fragment.last;
    if (receive.complete) note_cost(in, step, receive, fragment);  // before the credit, in the same cache line
    if (box.release(key_, fragment)) ring(peer.doorbell);
    const bool combined = step.kind == ActionKind::receive_reduce && !receive.bounce;
    done(begin, combined ? Activity::reduce : Activity::receive, step.peer, bytes, in);
    if (receive.complete) return true;
  }
}

/// Takes what others wait to send while the one that is next in order does not come: theirs may depend on it.
bool Operation::drain(Instance& in, bool yielding) {
  if (in.round == in.plan->stages.size()) return false;
  const Plan::Stage& stage = in.plan->stages[in.round];
  bool moved = false;
  ++pass_;
  for (std::uint32_t s = in.step; s < stage.end_of_steps; ++s) {
    const Plan::Step& step = in.plan->steps[s];
    if (!is_receive(step.kind)) continue;
    ReceiveState& receive = in.receives[s - stage.first_step];
    if (receive.complete || !neighbour(step.peer)) continue;
    std::uint64_t& blocked = blocked_[static_cast<std::size_t>(step.peer)];
    if (blocked == pass_) continue;  // an earlier message of this rank comes first
    const Bytes got = receive.got;
    const bool complete = take(in, s, s == in.step && !held(in, step), yielding);
    moved |= complete || receive.got != got;
    if (!complete) blocked = pass_;
  }
  return moved;
}

}  // namespace stretto::execute

// SPDX-License-Identifier: BSD-3-Clause
//
// How messages go to ranks of this node, and those that are lent: they stay where the program has them, and are read
// there.
#include <algorithm>
#include <utility>

#include "execute/operation.hpp"

namespace stretto::execute {
/// Decides how a message goes: lent, in fragments or whole.
void Operation::choose_copy(const Instance& in, SendState& state) {
  // Where segments follow each other one is read while the next is written.
  state.window = depth_ > 1 ? 0 : window_for(work_, in.plan->stages[in.round], in.plan->sends[state.send]);
  choose_loan(in, state);
  if (state.lend) state.window = 0;
}

/// How much of the staging ring a message takes for fragments of whole elements, of which its receiver reads one while
/// the next is written. 0: it goes whole. Fragments gain nothing if the receiver still reads what came before, or if
/// each end has a message of the other to copy.
Bytes Operation::window_for(const Work& work, const Plan::Stage& stage, const Plan::Outgoing& send) const {
  if (send.bytes < least_in_fragments || stage.receives > 0 || send.alike > 1 || work.oversubscribed) return 0;
  const Bytes size = work.element.size;
  const Bytes elements = (send.bytes / size + fragments_of_window - 1) / fragments_of_window;  // of a fragment
  const Bytes fragment = shm::StagingRing::rounded(elements * size);
  const Bytes window = fragments_of_window * fragment;
  if (size > fragment / 4 || window > paths_.node->staging[0]->bytes() / 2) return 0;
  return neighbour(send.peer)->waits() ? window : 0;
}

/// A message may be lent if it is in one piece, and in memory that the receiver can read: by the kernel if the call is
/// to do so, or in the heap. Where that is measured, the kernel copies it if that was faster.
void Operation::choose_loan(const Instance& in, SendState& state) {
  const Plan::Outgoing& send = in.plan->sends[state.send];
  const bool by_kernel = work_.lend_from > 0 && send.bytes >= work_.lend_from;
  if (!by_kernel && (send.bytes < shm::least_in_place || !paths_.node->heap)) return;
  const std::byte* message = in.buffers.in_one_piece(send.blocks);
  const bool in_heap = message && paths_.node->in_heap(message, send.bytes);
  shm::Connection& peer = *neighbour(send.peer);
  if (!message || !(by_kernel || in_heap) || !peer.out[in.channel].lends()) return;
  const Plan::Stage& stage = in.plan->stages[in.round];
  // Receivers of more than the ring holds would take turns with this rank's core, fragment by fragment.
  const bool needs_turns =
      work_.oversubscribed && stage.receives == 0 && stage.sent >= paths_.node->staging[in.channel]->bytes();
  const bool chosen = !in_heap && !needs_turns && work_.measures(send.bytes);
  const bool one_way = stage.receives == 0 && !work_.oversubscribed;
  state.timed = chosen && !one_way;
  // What many stage at once displaces in caches what others copy, which no rank can time: where some stage, lent
  // messages look slow as well.
  const float handicap = work_.oversubscribed && stage.receives > 0 ? 0.8f : 1;
  // What a new way to stage them takes is known sooner if they are staged until then.
  const bool on_trial =
      state.window == 0 && paths_.node->staging[in.channel]->may_go_around() && selectors_.stores.on_trial(send.bytes);
  state.lend = !chosen || (!on_trial && peer.lending_is_faster(send.bytes, one_way, stage.receives > 0, handicap));
}

/// Is there something that this rank alone can copy? Receivers of what it lends copy meanwhile, and are helped with
/// what is left.
bool Operation::copies_next(const Instance& in) const {
  if (in.step == in.plan->stages[in.round].end_of_steps) return false;
  const Plan::Step& step = in.plan->steps[in.step];
  return step.kind == ActionKind::copy && !held(in, step);
}

/// True: the receiver has copied it. One that may not gets it through the staging ring.
bool Operation::try_lend(Instance& in, SendState& state) {
  const Plan::Outgoing& send = in.plan->sends[state.send];
  shm::Connection& peer = *neighbour(send.peer);
  if (state.lent == 0) {
    const std::byte* message = in.buffers.in_one_piece(send.blocks);
    // Where a round both sends and receives, each rank copies what it receives, and has no time to help others.
    const bool helps = send.bytes >= shm::least_shared && in.plan->stages[in.round].receives == 0;
    const shm::Help where = !helps                ? shm::Help::none
                            : work_.lend_from > 0 ? shm::Help::anywhere
                                                  : shm::Help::into_heaps;
    state.lent = shm::post_lent(peer, in.channel, key_, message, send.bytes, where);
    if (state.lent == 0) return false;
  }
  shm::Outbox& box = peer.out[in.channel];
  if (!box.released(state.lent)) {
    if (copies_next(in) || !box.asked_for_help(state.lent)) return false;
    const Nanoseconds begin = seen();
    box.help(state.lent);
    ring(peer.doorbell);  // it may wait for the last piece
    done(begin, Activity::copy, no_rank, send.bytes, in);
    return false;
  }
  if (box.refused(state.lent)) {
    state.lend = false;
    state.lent = 0;
    return try_send(in, state);
  }
  done(seen(send.peer), Activity::send, send.peer, send.bytes, in);
  return true;
}

/// While this rank copies something else, the senders of long messages of the round begin to copy theirs.
void Operation::ask_for_help(Instance& in) {
  const Plan::Stage& stage = in.plan->stages[in.round];
  ++pass_;
  for (std::uint32_t s = in.step; s < stage.end_of_steps; ++s) {
    const Plan::Step& step = in.plan->steps[s];
    ReceiveState& receive = in.receives[s - stage.first_step];
    if (!is_receive(step.kind) || receive.complete || !neighbour(step.peer)) continue;
    std::uint64_t& last_pass = blocked_[static_cast<std::size_t>(step.peer)];
    if (std::exchange(last_pass, pass_) == pass_) continue;  // an earlier message of this rank comes first
    if (step.kind != ActionKind::receive || step.bytes < shm::least_shared) continue;
    if (receive.asked || receive.got > 0 || receive.dropped) continue;
    shm::Inbox& box = neighbour(step.peer)->in[in.channel];
    const shm::Fragment fragment = box.next(key_);
    if (!fragment || fragment.carried != shm::Carried::lent || fragment.bytes != step.bytes) continue;
    std::byte* const whole = in.buffers.in_one_piece(step.target);
    if (!whole) continue;
    receive.asked = true;
    receive.shared = ask(step, {whole, paths_.node->in_heap(whole, step.bytes)}, box);
  }
}

/// Asks the sender of a lent message, which may sleep, to copy it too. False: it may not.
bool Operation::ask(const Plan::Step& step, const shm::Inbox::Target& target, shm::Inbox& box) {
  if (!box.ask_for_help(target)) return false;
  ring(neighbour(step.peer)->doorbell);
  return true;
}

/// A message that lies in the sender's memory. What is to be combined, or goes to several places, is read in place, or
/// else in pieces that the kernel copies.
shm::Copied Operation::take_lent(Instance& in, const Plan::Step& step, ReceiveState& receive, shm::Inbox& box,
                                 const shm::Fragment& fragment) {
  constexpr Bytes most = 32 << 10;  // what is combined should still be in the first cache
  std::byte* whole = step.kind == ActionKind::receive ? in.buffers.in_one_piece(step.target) : receive.bounce;
  if (whole) {
    const bool in_heap = paths_.node->in_heap(whole, fragment.bytes);
    const shm::Inbox::Target target{whole, in_heap, step.non_temporal};
    ask(step, target, box);
    const shm::Copied copied = box.copy_together(fragment, target, receive.copied);
    receive.shared = copied == shm::Copied::in_part;
    if (copied == shm::Copied::all) {
      receive.got += fragment.bytes;
      if (box.in_place(fragment)) shm::messages_in_place.fetch_add(1, std::memory_order_relaxed);
    }
    return copied;
  }
  receive.copied = fragment.bytes;
  if (const std::byte* message = box.in_place(fragment)) {
    shm::messages_in_place.fetch_add(1, std::memory_order_relaxed);
    deliver(in, step, receive, message, fragment.bytes);
    return shm::Copied::all;
  }
  const Bytes size = work_.element.size;
  const Bytes piece = std::max(most - most % size, size);
  std::byte* memory = in.arena.take(piece);
  while (receive.got < fragment.bytes) {
    const Bytes bytes = std::min(piece, fragment.bytes - receive.got);
    if (!box.copy(fragment, receive.got, bytes, memory)) {
      if (receive.got == 0) return shm::Copied::refused;
      failed_ = receive.dropped = true;  // some of it has been combined
      receive.got = fragment.bytes;
    } else {
      deliver(in, step, receive, memory, bytes);
    }
  }
  return shm::Copied::all;
}

/// Senders write into this call's buffers no more, and receivers do not take what comes of them for a message.
void Operation::withdraw_lent(Instance& in) {
  if (!in.active || in.round == in.plan->stages.size()) return;
  for (const SendState& state : in.unsent)
    if (state.lent > 0) neighbour(in.plan->sends[state.send].peer)->out[in.channel].take_back(state.lent);
  const Plan::Stage& stage = in.plan->stages[in.round];
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (std::uint32_t s = stage.first_step; s < stage.end_of_steps; ++s) {
    const ReceiveState& receive = in.receives[s - stage.first_step];
    if (receive.shared) neighbour(in.plan->steps[s].peer)->in[in.channel].withdraw(receive.copied, end);
  }
}

}  // namespace stretto::execute

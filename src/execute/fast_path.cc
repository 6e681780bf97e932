// SPDX-License-Identifier: BSD-3-Clause
//
// The fast path through a plan without long messages: there is nothing to cut, to pack or to buffer. It uses no
// segments and no rounds of the operation, and spins in each wait. Where spinning is not enough the operation is
// posted, and goes on from the message that the fast path has reached.
#include <cstring>
#include <utility>

#include "execute/operation.hpp"
#include "support/memory.hpp"

namespace stretto::execute {
namespace {

void copy_short(std::byte* to, const std::byte* from, Bytes bytes) {
  if (bytes == 8)  // a number: the call would cost more than the copy
    std::memcpy(to, from, 8);
  else
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

Operation::Position Operation::beginning_of(const Plan& plan) {
  return plan.stages.empty() ? Position{} : Position{0, plan.stages[0].first_send, plan.stages[0].first_step};
}

/// Are long messages to be staged, and none to be timed?
bool Operation::stages_untimed(const shm::Neighbours& node, const Plan::FastPath& fast) {
  if (node.heap && node.heap->is_open()) return false;  // it is read in place
  return fast.exchanged == 0 ||
         node.connections[static_cast<std::size_t>(fast.partner)]->stages_untimed(fast.exchanged);
}

/// Each wait may take so many polls.
Operation::Stop Operation::run_fast(const Work& work, Ends ends, const Paths& paths, const Plan& plan, Position& at,
                                    int polls) {
  paths_.node = paths.node;
  key_ = shm::key_of(paths.tag.communicator, paths.tag.sequence);
  std::byte* base[3] = {static_cast<std::byte*>(ends.input), static_cast<std::byte*>(ends.output), nullptr};
  if (plan.scratch > 0) {  // the same memory each time
    Arena& arena = instances_[0].scratch_arena;
    arena.reset();
    base[2] = arena.take(plan.scratch) - work.element.lower;
  }
  const auto address = [&](Slice blocks) {
    const Span& span = plan.spans[blocks.first];
    return base[static_cast<int>(span.buffer)] + span.at;
  };
  while (at.round < plan.stages.size()) {
    const Plan::Stage& stage = plan.stages[at.round];
    const bool sends = at.send < stage.end_of_sends;
    while (at.send < stage.end_of_sends) {
      const Plan::Outgoing* send = &plan.sends[at.send];
      if (send->bytes >= least_in_fragments && window_for(work, stage, *send) > 0) return Stop::other_path;
      const std::byte* from = send->bytes > 0 ? address(send->blocks) : nullptr;
      const std::uint32_t sent = send_fast(send, from);
      if (sent == 0) return Stop::wait;
      at.send += sent;
    }
    if (sends && paths.node->policy.polls > 1) prefetch_next(plan, stage);
    for (; at.step < stage.end_of_steps; ++at.step)
      if (const Stop stop = step_fast(work, plan.steps[at.step], address, polls); stop != Stop::end) return stop;
    ++at.round;
    at.send = stage.end_of_sends;  // the next stage's begin where this one's end
    at.step = stage.end_of_steps;
  }
  return Stop::end;
}

void Operation::resume_fast(const Work& work, const Paths& paths, const Plan& plan, const Position& at) {
  fast_work_ = &work;
  ends_ = {work.input.at, work.output.at};
  paths_ = paths;
  ready_ = &plan;
  observer_ = nullptr;
  failed_ = false;
  open_ = 0;
  depth_ = 1;
  active_ = 1;
  position_ = at;
  is_fast_ = true;
}

bool Operation::advance_fast(int polls) {
  const Position before = position_;
  switch (run_fast(*fast_work_, ends_, paths_, *ready_, position_, polls)) {
    case Stop::wait: return position_ != before;
    case Stop::other_path: leave_fast_path(); return advance_all(), true;
    case Stop::end: break;
  }
  is_fast_ = false;
  active_ = 0;
  return true;
}

/// The messages of a stage have left: gets the lines in which the next ones will be, while there is time. Most often
/// their receivers have read them. But a receiver that waits looks at its next slot: between ranks that hear of each
/// other that would only go to and fro.
void Operation::prefetch_next(const Plan& plan, const Plan::Stage& stage) const {
  for (std::uint32_t s = stage.first_send; s < stage.end_of_sends; ++s) {
    const Plan::Outgoing& send = plan.sends[s];
    shm::Connection& peer = *neighbour(send.peer);
    const bool for_one = send.alike == 1 && (s == stage.first_send || plan.sends[s - 1].alike == 1);
    if (for_one) peer.out[0].prefetch_room(send.bytes);
    if (plan.fast_path.only_sends && peer.streams()) peer.out[0].prefetch_slot();
  }
}

/// What the fast path cannot do is left to the other one.
void Operation::leave_fast_path() {
  if (!std::exchange(is_fast_, false)) return;
  active_ = 0;
  Work work = *fast_work_;
  work.input.at = ends_.input;
  work.output.at = ends_.output;
  resume(work, Paths(paths_), *ready_, position_);
}

/// How many messages have left: those that have the same blocks, or none. Of many operations those leave first that
/// were posted first: in another order the peer, which looks for them in this one, would take one message a look.
std::uint32_t Operation::send_fast(const Plan::Outgoing* send, const std::byte* from) {
  shm::Connection& first = *neighbour(send->peer);
  if (first.full_in == look_) return 0;
  const std::uint32_t sent = post_fast(send, from);
  if (sent == 0 && first.out[0].full()) first.full_in = look_;
  return sent;
}

std::uint32_t Operation::post_fast(const Plan::Outgoing* send, const std::byte* from) {
  const Bytes bytes = send->bytes;
  const auto& node = *paths_.node;
  const auto peer = [&](std::uint32_t r) -> shm::Connection& { return *neighbour(send[r].peer); };
  const auto readers = static_cast<std::uint32_t>(send->alike);
  if (shm::goes_inline(peer(0).out[0], bytes, readers)) {
    const auto pack = [&](std::byte* to) {
      if (bytes > 0) copy_short(to, from, bytes);
    };
    return shm::post_inline(peer(0), 0, key_, bytes, pack) ? 1 : 0;
  }
  const auto pack = [&](std::byte* to, const shm::Storing& storing) {
    copy_bytes(to, from, bytes, storing.non_temporal);
  };
  return shm::post_staged(node, selectors_.stores, 0, key_, bytes, readers, false, peer, pack, false) ? readers : 0;
}

template <typename Address>
Operation::Stop Operation::step_fast(const Work& work, const Plan::Step& step, Address address, int most_polls) {
  const auto combine = [&](const std::byte* other) {
    const std::byte* mine = address(step.operand);
    const bool left = step.side == Side::left;
    work.combiner.combine(work.combiner, left ? other : mine, left ? mine : other, address(step.target), step.n);
  };
  if (step.kind == ActionKind::reduce) return combine(address(step.source)), Stop::end;
  if (step.kind == ActionKind::copy) {
    std::byte* to = address(step.target);
    const std::byte* from = address(step.source);
    if (to != from) move_bytes(to, from, step.bytes);
    return Stop::end;
  }
  const auto& node = *paths_.node;
  shm::Connection& peer = *node.connections[static_cast<std::size_t>(step.peer)];
  auto& box = peer.in[0];
  shm::Fragment fragment = box.next(key_);
  for (int polls = 1; !fragment && polls < most_polls; ++polls) {
    shm::Backoff::pause();
    fragment = box.next(key_);
  }
  if (!fragment) return Stop::wait;
  if (fragment.bytes != step.bytes || !fragment.last || fragment.carried == shm::Carried::lent) return Stop::other_path;
  // Its sender wants to know what it takes.
  if (work.measures(step.bytes) && fragment.in_ring() && fragment.typical) return Stop::other_path;
  const auto copy = [&](bool as_memcpy) {
    if (as_memcpy)
      copy_bytes(address(step.target), fragment.content, step.bytes);
    else
      copy_lines(address(step.target), fragment.content, step.bytes);
  };
  const bool combines = step.kind == ActionKind::receive_reduce;
  if (step.bytes == 0)
    ;
  else if (fragment.carried == shm::Carried::inlined && !combines)
    copy_short(address(step.target), fragment.content, step.bytes);
  else if (fragment.in_ring())
    box.read(fragment, [&] { combines ? combine(fragment.content) : selectors_.loads.run(step.bytes, copy); });
  else if (combines)
    combine(fragment.content);
  else
    copy(true);
  if (box.release(key_, fragment)) ring(peer.doorbell);
  return Stop::end;
}

void Operation::resume(const Work& work, const Paths& paths, const Plan& plan, const Position& at) {
  begin(work, paths, &plan);
  Instance& in = instances_[0];
  occupy(in, 0);
  in.round = at.round;
  const Plan::Stage& stage = in.plan->stages[in.round];
  begin_round(in, stage);
  in.step = at.step;
  in.unsent.clear();
  queue_sends(in, at.send, stage.end_of_sends);
}

}  // namespace stretto::execute

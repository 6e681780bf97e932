// SPDX-License-Identifier: BSD-3-Clause
//
// An operation's side of a Transport: ranks of other nodes.
#include "execute/operation.hpp"

namespace stretto::execute {
namespace {

using transport::Ticket;

// A ticket names the operation, the instance, the direction and the message of the instance's present round.
constexpr int index_bits = 24;
constexpr std::uint32_t send_bit = std::uint32_t{1} << index_bits;

}  // namespace

Ticket Operation::ticket(const Instance& in, std::uint32_t index, bool send) const {
  const auto channel = static_cast<std::uint32_t>(in.channel);
  return transport::ticket_of(number_, channel << (index_bits + 1) | (send ? send_bit : 0) | index);
}

void Operation::post_receives(Instance& in, const Plan::Stage& stage) {
  for (std::uint32_t s = stage.first_step; s < stage.end_of_steps; ++s) {
    const Plan::Step& step = in.plan->steps[s];
    if (!is_receive(step.kind)) continue;
    if (neighbour(step.peer)) continue;
    ReceiveState& receive = in.receives[s - stage.first_step];
    std::byte* at = step.kind == ActionKind::receive ? in.buffers.in_one_piece(step.target) : nullptr;
    if (!at && step.bytes > 0) at = receive.bounce = in.arena.take(step.bytes);
    ++open_;
    paths_.messages->receive(step.peer, tag(in), at, step.bytes, ticket(in, s - stage.first_step, false));
  }
}

void Operation::post_sends(Instance& in, const Plan::Stage& stage) {
  in.leaving.assign(stage.end_of_sends - stage.first_send, {});
  in.sends_left = 0;
  for (std::uint32_t s = stage.first_send; s < stage.end_of_sends; ++s) {
    const Plan::Outgoing& send = in.plan->sends[s];
    if (neighbour(send.peer)) continue;
    const Nanoseconds begin = seen(send.peer);
    const std::byte* at = in.buffers.in_one_piece(send.blocks);
    if (!at && send.bytes > 0) at = in.buffers.gathered(send.blocks, send.bytes, in.arena);
    in.leaving[s - stage.first_send] = {send.peer, send.bytes, false};
    ++in.sends_left;
    ++open_;
    paths_.messages->send(send.peer, tag(in), at, send.bytes, ticket(in, s - stage.first_send, true));
    done(begin, Activity::send, send.peer, send.bytes, in);
  }
}

void Operation::complete(Ticket ticket) {
  --open_;
  const std::uint32_t message = static_cast<std::uint32_t>(ticket);
  Instance& in = instances_[message >> (index_bits + 1)];
  const std::size_t index = message & (send_bit - 1);
  if (message & send_bit) {
    in.leaving[index].complete = true;
    --in.sends_left;
    return;
  }
  const Plan::Step& step = in.plan->steps[in.plan->stages[in.round].first_step + index];
  const Nanoseconds begin = seen(step.peer, true);
  in.receives[index].complete = true;
  done(begin, Activity::receive, step.peer, step.bytes, in);
}

}  // namespace stretto::execute

// SPDX-License-Identifier: BSD-3-Clause
//
// The engine's side of a Transport: ranks of other nodes.
#include <algorithm>

#include "execute/engine.hpp"

namespace stretto::execute {
namespace {

using transport::Outcome;
using transport::Ticket;

// A ticket names the instance, the direction and the message of the instance's present round.
constexpr int index_bits = 24;
constexpr Ticket send_bit = Ticket{1} << index_bits;

}  // namespace

Ticket Engine::ticket(const Instance& in, std::uint32_t index, bool send) const {
  return static_cast<Ticket>(in.lane) << (index_bits + 1) | (send ? send_bit : 0) | index;
}

void Engine::post_receives(Instance& in, const Program::Stage& stage) {
  for (std::uint32_t s = stage.first_step; s < stage.end_of_steps; ++s) {
    const Program::Step& step = in.program->steps[s];
    if (!is_receive(step.kind)) continue;
    if (neighbour(step.peer)) continue;
    Arrival& arrival = in.arrivals[s - stage.first_step];
    std::byte* at = step.kind == ActionKind::receive ? in.buffers.in_one_piece(step.target) : nullptr;
    if (!at && step.bytes > 0) at = arrival.bounce = in.arena.take(step.bytes);
    ++open_;
    paths_.messages->receive(step.peer, in.lane, at, step.bytes, ticket(in, s - stage.first_step, false));
  }
}

void Engine::post_sends(Instance& in, const Program::Stage& stage) {
  in.leaving.assign(stage.end_of_sends - stage.first_send, {});
  in.sends_left = 0;
  for (std::uint32_t s = stage.first_send; s < stage.end_of_sends; ++s) {
    const Program::Outgoing& send = in.program->sends[s];
    if (neighbour(send.peer)) continue;
    const Nanoseconds begin = active(send.peer);
    const std::byte* at = in.buffers.in_one_piece(send.blocks);
    if (!at && send.bytes > 0) {
      std::byte* packed = in.arena.take(send.bytes);
      in.buffers.pack(send.blocks, 0, send.bytes, packed);
      at = packed;
    }
    in.leaving[s - stage.first_send] = {send.peer, send.bytes, false};
    ++in.sends_left;
    ++open_;
    paths_.messages->send(send.peer, in.lane, at, send.bytes, ticket(in, s - stage.first_send, true));
    done(begin, Activity::send, send.peer, send.bytes, in);
  }
}

/// Waits for a message, and asks now and then whether there is any use in that.
Outcome Engine::await(const Deadline& deadline) {
  constexpr std::chrono::milliseconds slice{10};
  const Deadline expires = deadline.renewed();
  for (;;) {
    const Outcome outcome = paths_.messages->wait(done_, paths_.attend ? expires.within(slice) : expires);
    if (outcome != Outcome::expired || expires.expired()) return outcome;
    if (!paths_.go_on()) return Outcome::failed;
  }
}

/// Takes note of messages that have come or gone; waits for one if `wait`.
Outcome Engine::collect(bool wait, const Deadline& deadline) {
  done_.clear();
  if (!paths_.messages) return Outcome::failed;
  if (wait && observer_) observer_->idle();
  const Outcome outcome = wait ? await(deadline) : paths_.messages->poll(done_);
  if (outcome != Outcome::ok) return outcome;
  if (wait && done_.empty()) return Outcome::failed;  // waits, but for no message
  open_ -= done_.size();
  for (const Ticket t : done_) {
    Instance& in = instances_[t >> (index_bits + 1)];
    const std::size_t index = t & (send_bit - 1);
    if (t & send_bit) {
      in.leaving[index].complete = true;
      --in.sends_left;
    } else {
      const Program::Step& step = in.program->steps[in.program->stages[in.round].first_step + index];
      const Nanoseconds begin = active(step.peer, true);
      in.arrivals[index].complete = true;
      done(begin, Activity::receive, step.peer, step.bytes, in);
    }
  }
  return Outcome::ok;
}

}  // namespace stretto::execute

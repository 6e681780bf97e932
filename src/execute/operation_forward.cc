// SPDX-License-Identifier: BSD-3-Clause
//
// A message that is combined straight into what is sent on: in a chain or a ring of reductions a rank otherwise writes
// each partial result twice, to its own memory and from there to the staging ring.
#include "execute/operation.hpp"

namespace stretto::execute {

/// May the result of a step, taken in order, be the only message of the next round at once? Not where that might be
/// lent, nor before what this round has still to send.
bool Operation::may_forward(const Instance& in, const Plan::Step& step) const {
  if (in.step + 1 != in.plan->stages[in.round].end_of_steps || in.sends_left > 0 || !in.unsent.empty()) return false;
  const shm::Connection* const peer = neighbour(in.plan->sends[in.plan->stages[in.round + 1].first_send].peer);
  return peer && !shm::goes_inline(peer->out[in.channel], step.bytes, 1) &&
         (work_.lend_from == 0 || step.bytes < work_.lend_from) &&
         step.bytes <= paths_.node->staging[in.channel]->bytes() / 2;
}

/// Combines a message straight into the staging ring, where it leaves. False: there is no room.
bool Operation::forward(Instance& in, const Plan::Step& step, const std::byte* message) {
  shm::Connection& peer = *neighbour(in.plan->sends[in.plan->stages[in.round + 1].first_send].peer);
  const auto write = [&](std::byte* to, bool, bool) {
    in.buffers.combine_to(to, step, message);
    return shm::Storing{.typical = false};
  };
  in.forwarded = shm::post_written(
      *paths_.node, selectors_.stores, in.channel, key_, step.bytes, 1, shares_core(),
      [&](std::uint32_t) -> shm::Connection& { return peer; }, write);
  if (in.forwarded) note_sent(in, peer.out[in.channel]);
  return in.forwarded;
}

}  // namespace stretto::execute

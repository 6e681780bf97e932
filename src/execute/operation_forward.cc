// SPDX-License-Identifier: BSD-3-Clause
//
// A message that is combined straight into what is sent on: in a chain or a ring of reductions a rank otherwise writes
// each partial result twice, to its own memory and from there to the staging ring.
#include "execute/operation.hpp"

namespace stretto::execute {

/// To whom the result of a step, taken in order from this fragment, may leave at once, as the only message of the next
/// round. Null where it may not: the fragment is not all of the message, the round has still something to send, or the
/// result goes by another way.
shm::Connection* Operation::next_of(const Instance& in, const Plan::Step& step, const ReceiveState& receive,
                                    const shm::Fragment& fragment) const {
  if (!step.forwards || !fragment.in_ring() || fragment.bytes != step.bytes || receive.bounce) return nullptr;
  if (in.step + 1 != in.plan->stages[in.round].end_of_steps || in.sends_left > 0 || !in.unsent.empty()) return nullptr;
  shm::Connection* const next = neighbour(in.plan->sends[in.plan->stages[in.round + 1].first_send].peer);
  const bool staged = next && !shm::goes_inline(next->out[in.channel], step.bytes, 1) &&
                      (work_.lend_from == 0 || step.bytes < work_.lend_from) &&
                      step.bytes <= paths_.node->staging[in.channel]->bytes() / 2;
  return staged ? next : nullptr;
}

/// Combines a message straight into the staging ring, where it leaves. False: there is no room.
bool Operation::forward(Instance& in, const Plan::Step& step, ReceiveState& receive, shm::Inbox& box,
                        const shm::Fragment& fragment, shm::Connection& next) {
  const auto write = [&](std::byte* to, bool, bool) {
    box.read(fragment, [&] { in.buffers.combine_to(to, step, fragment.content); });
    return shm::Storing{.typical = false};
  };
  in.forwarded = shm::post_written(
      *paths_.node, selectors_.stores, in.channel, key_, step.bytes, 1, shares_core(),
      [&](std::uint32_t) -> shm::Connection& { return next; }, write);
  if (!in.forwarded) return false;
  receive.got = step.bytes;
  note_sent(in, next.out[in.channel]);
  return true;
}

}  // namespace stretto::execute

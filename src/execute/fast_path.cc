// SPDX-License-Identifier: BSD-3-Clause
//
// The fast path through a brief program: there is nothing to cut, to pack or to put aside. Where it would have to wait
// for long the operation is posted, and goes on from there.
#include <cstring>

#include "execute/operation.hpp"
#include "support/memory.hpp"

namespace stretto::execute {
namespace {

using transport::shm::Connection;
using transport::shm::inline_payload;
using transport::shm::Part;
using transport::shm::Patience;
using transport::shm::post_by_room;
using transport::shm::post_inline;

void copy_short(std::byte* to, const std::byte* from, Bytes bytes) {
  if (bytes == 8)  // a number: the call would cost more than the copy
    std::memcpy(to, from, 8);
  else
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

bool Operation::has_fast_path(const Paths& paths, const Program& program) {
  const Program::Brief& brief = program.brief;
  return brief.is && paths.node && !paths.messages && !(paths.observer && paths.observer->closely()) &&
         brief.in_room <= paths.node->rooms[0]->capacity(brief.largest);
}

/// True: the whole program is done. False: `at` is how far it came.
bool Operation::run_fast(const Work& work, const Paths& paths, const Program& program, Place& at) {
  paths_.node = paths.node;
  key_ = transport::shm::key_of(paths.tag.communicator, paths.tag.sequence);
  std::byte* base[3] = {static_cast<std::byte*>(work.input.at), static_cast<std::byte*>(work.output.at), nullptr};
  if (program.scratch > 0) {
    Arena& arena = instances_[0].scratch_arena;
    arena.reset();
    base[2] = arena.take(program.scratch) - work.element.lower;
  }
  const auto address = [&](Slice blocks) {
    const Span& span = program.spans[blocks.first];
    return base[static_cast<int>(span.buffer)] + span.at;
  };
  for (at.round = 0; at.round < program.stages.size(); ++at.round) {
    const Program::Stage& stage = program.stages[at.round];
    at.step = stage.first_step;
    at.send = stage.first_send;
    while (at.send < stage.end_of_sends) {
      const Program::Outgoing* send = &program.sends[at.send];
      const std::byte* from = send->bytes > 0 ? address(send->blocks) : nullptr;
      const std::uint32_t sent = send_fast(send, from);
      if (sent == 0) return false;
      at.send += sent;
    }
    for (; at.step < stage.end_of_steps; ++at.step)
      if (!step_fast(work, program.steps[at.step], address)) return false;
  }
  return true;
}

/// How many messages have left: those that have the same blocks, or none.
std::uint32_t Operation::send_fast(const Program::Outgoing* send, const std::byte* from) {
  const Bytes bytes = send->bytes;
  const auto& node = *paths_.node;
  const auto peer = [&](std::uint32_t r) -> Connection& {
    return *node.connections[static_cast<std::size_t>(send[r].peer)];
  };
  if (bytes <= inline_payload) {
    const auto pack = [&](std::byte* to) {
      if (bytes > 0) copy_short(to, from, bytes);
    };
    return post_inline(peer(0), 0, key_, bytes, pack) ? 1 : 0;
  }
  const auto pack = [&](std::byte* to, bool streams) {
    if (streams)
      copy_streaming(to, from, bytes);
    else
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
  };
  const auto readers = static_cast<std::uint32_t>(send->alike);
  return post_by_room(node, stores_, 0, key_, bytes, readers, peer, pack) ? readers : 0;
}

/// False: its message has not come, or is not what it should be.
template <typename Address>
bool Operation::step_fast(const Work& work, const Program::Step& step, Address address) {
  const auto combine = [&](const std::byte* other) {
    const std::byte* mine = address(step.operand);
    const bool left = step.side == Side::left;
    work.combiner.combine(work.combiner, left ? other : mine, left ? mine : other, address(step.target), step.n);
  };
  if (step.kind == ActionKind::reduce) return combine(address(step.source)), true;
  if (step.kind == ActionKind::copy) {
    std::byte* to = address(step.target);
    const std::byte* from = address(step.source);
    if (to != from) std::memmove(to, from, static_cast<std::size_t>(step.bytes));
    return true;
  }
  const auto& node = *paths_.node;
  Connection& peer = *node.connections[static_cast<std::size_t>(step.peer)];
  auto& box = peer.in[0];
  Part part = box.next(key_);
  for (int looks = 1; !part && looks < node.policy.looks; ++looks) {
    Patience::pause();
    part = box.next(key_);
  }
  if (!part || part.bytes != step.bytes || !part.last) return false;
  if (step.bytes == 0)
    ;
  else if (step.kind == ActionKind::receive_reduce)
    combine(part.content);
  else if (part.inlined)
    copy_short(address(step.target), part.content, step.bytes);
  else
    copy_lines(address(step.target), part.content, step.bytes);
  if (box.release(key_, part)) ring_bell(peer.bell);
  return true;
}

void Operation::resume(const Work& work, const Paths& paths, const Program& program, const Place& at) {
  begin(work, paths, &program);
  Instance& in = instances_[0];
  occupy(in, 0);
  in.round = at.round;
  const Program::Stage& stage = in.program->stages[in.round];
  begin_round(in, stage);
  in.step = at.step;
  in.unsent.clear();
  queue_sends(in, at.send, stage.end_of_sends);
}

}  // namespace stretto::execute

// SPDX-License-Identifier: BSD-3-Clause
//
// The short way through a brief program: there is nothing to cut, to pack or to put aside. Where it would have to wait
// for long the engine goes on from there.
#include <cstring>

#include "execute/engine.hpp"
#include "support/memory.hpp"

namespace stretto::execute {
namespace {

using transport::shm::Connection;
using transport::shm::inline_payload;
using transport::shm::Line;
using transport::shm::Neighbours;
using transport::shm::Patience;
using transport::shm::post_by_room;
using transport::shm::post_inline;

void copy_brief(std::byte* to, const std::byte* from, Bytes bytes) {
  if (bytes == 8)  // a number: the call would cost more than the copy
    std::memcpy(to, from, 8);
  else
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

bool Engine::has_short_way(const Paths& paths, const Program& program) const {
  const Program::Brief& brief = program.brief;
  return brief.is && paths.node && !paths.messages && !(paths.observer && paths.observer->closely()) && active_ == 0 &&
         !instances_.empty() && brief.in_room <= paths.node->rooms[0]->capacity(brief.largest);
}

/// True: the whole program is done. False: `at` is how far it came.
bool Engine::run_brief(const Work& work, const Paths& paths, const Program& program, Place& at) {
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
  const auto& node = *paths.node;
  for (at.round = 0; at.round < program.stages.size(); ++at.round) {
    const Program::Stage& stage = program.stages[at.round];
    at.step = stage.first_step;
    at.send = stage.first_send;
    while (at.send < stage.end_of_sends) {
      const Program::Outgoing* send = &program.sends[at.send];
      const std::byte* from = send->bytes > 0 ? address(send->blocks) : nullptr;
      const std::uint32_t sent = send_brief(node, send, from);
      if (sent == 0) return false;
      at.send += sent;
    }
    for (; at.step < stage.end_of_steps; ++at.step)
      if (!step_brief(work, node, program.steps[at.step], address)) return false;
  }
  return true;
}

/// How many messages have left: those that have the same blocks, or none.
std::uint32_t Engine::send_brief(const Neighbours& node, const Program::Outgoing* send, const std::byte* from) {
  const Bytes bytes = send->bytes;
  const auto peer = [&](std::uint32_t r) -> Connection& {
    return *node.connections[static_cast<std::size_t>(send[r].peer)];
  };
  if (bytes <= inline_payload) {
    const auto pack = [&](std::byte* to) {
      if (bytes > 0) copy_brief(to, from, bytes);
    };
    return post_inline(peer(0), 0, bytes, pack) ? 1 : 0;
  }
  const auto pack = [&](std::byte* to, bool streams) {
    if (streams)
      copy_streaming(to, from, bytes);
    else
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
  };
  const auto readers = static_cast<std::uint32_t>(send->alike);
  return post_by_room(node, stores_, 0, bytes, readers, peer, pack) ? readers : 0;
}

/// False: its message has not come, or is not what it should be.
template <typename Address>
bool Engine::step_brief(const Work& work, const Neighbours& node, const Program::Step& step, Address address) {
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
  Connection& peer = *node.connections[static_cast<std::size_t>(step.peer)];
  auto& box = peer.in[0];
  const Line* line = box.next();
  for (int looks = 1; !line && looks < node.policy.looks; ++looks) {
    Patience::pause();
    line = box.next();
  }
  if (!line || line->bytes != step.bytes || !line->last) return false;
  if (const std::byte* message = box.content(*line); step.bytes == 0)
    ;
  else if (step.kind == ActionKind::receive_reduce)
    combine(message);
  else if (line->inlined)
    copy_brief(address(step.target), message, step.bytes);
  else
    copy_lines(address(step.target), message, step.bytes);
  if (box.release(*line)) ring_bell(peer.bell);
  return true;
}

/// The engine takes over where the short way ended.
void Engine::take_over(Instance& in, const Place& at) {
  occupy(in, 0);
  in.round = at.round;
  const Program::Stage& stage = in.program->stages[in.round];
  begin_round(in, stage);
  in.step = at.step;
  in.unsent.clear();
  queue_sends(in, at.send, stage.end_of_sends);
}

}  // namespace stretto::execute

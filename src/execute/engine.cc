// SPDX-License-Identifier: BSD-3-Clause
#include "execute/engine.hpp"

#include <algorithm>
#include <cstring>

namespace stretto::execute {
namespace {

using transport::Outcome;
using transport::Ticket;

// A ticket names the instance, the direction and the message of the instance's present round.
constexpr int index_bits = 24;
constexpr Ticket send_bit = Ticket{1} << index_bits;

Ticket ticket(std::size_t instance, std::size_t index, bool send) {
  return static_cast<Ticket>(instance << (index_bits + 1)) | (send ? send_bit : 0) | static_cast<Ticket>(index);
}

bool receives(const Action& action) {
  return action.kind == ActionKind::receive || action.kind == ActionKind::receive_reduce;
}

}  // namespace

Outcome Engine::run(const Work& work, transport::Transport& transport, const Deadline& deadline) {
  work_ = &work;
  transport_ = &transport;
  const Count segments = segments_ =
      std::max({work.input.layout.segments(), work.output.layout.segments(), work.sizes.segments()});
  const auto depth = static_cast<std::size_t>(std::clamp<Count>(work.depth, 1, std::min<Count>(segments, 64)));
  if (instances_.size() < depth) instances_.resize(depth);
  active_ = 0;
  for (Instance& in : instances_) in.active = false;  // of a call that failed
  trim();
  depth_ = static_cast<Count>(depth);
  for (std::size_t i = 0; i < depth; ++i) {
    start(i, static_cast<Count>(i));
    advance(i);
  }
  while (active_ > 0) {
    done_.clear();
    const Outcome outcome = transport.wait(done_, deadline.renewed());
    if (outcome != Outcome::ok) return outcome;
    if (done_.empty()) return Outcome::failed;  // waits, but for no message
    for (const Ticket t : done_) {
      Instance& in = instances_[t >> (index_bits + 1)];
      const std::size_t index = t & (send_bit - 1);
      if (t & send_bit) {
        in.leaving[index].complete = true;
        --in.sends_left;
      } else {
        in.arriving[index].complete = true;
      }
    }
    for (std::size_t i = 0; i < depth; ++i)
      if (instances_[i].active) advance(i);
  }
  trim();
  return Outcome::ok;
}

void Engine::trim() {
  for (Instance& in : instances_) {
    in.arena.trim();
    in.scratch_arena.trim();
  }
}

void Engine::start(std::size_t i, Count segment) {
  Instance& in = instances_[i];
  const Schedule& schedule = *work_->schedule;
  if (!in.active) ++active_;
  in.active = true;
  in.segment = segment;
  in.round = 0;
  if (!schedule.scratch.empty()) {
    in.slot_first.resize(schedule.scratch.size() + 1);
    Count n = 0;
    for (std::size_t s = 0; s < schedule.scratch.size(); ++s) {
      in.slot_first[s] = n;
      n += work_->sizes.block(work_->sizes_by_slot ? static_cast<Block>(s) : schedule.scratch[s], segment).count;
      n += slot_gap();
    }
    in.slot_first.back() = n;
    in.scratch_arena.reset();
    in.scratch = elements(in.scratch_arena, n);
  }
  enter_round(i);
}

void Engine::enter_round(std::size_t i) {
  Instance& in = instances_[i];
  const Schedule& schedule = *work_->schedule;
  in.next_action = 0;
  in.sends_left = 0;
  if (in.round == schedule.rounds.size()) return;
  in.arena.reset();
  const Round& round = schedule.rounds[in.round];
  const auto actions = schedule.actions_of(round);
  const auto sends = schedule.sends_of(round);
  in.arriving.assign(actions.size(), {});
  in.leaving.assign(sends.size(), {});
  // Receives first: a message that finds its receive posted needs no buffer of the transport.
  for (std::size_t a = 0; a < actions.size(); ++a)
    if (receives(actions[a])) post_receive(i, a, actions[a]);
  for (std::size_t s = 0; s < sends.size(); ++s) post_send(i, s, sends[s]);
}

void Engine::post_receive(std::size_t i, std::size_t index, const Action& action) {
  Instance& in = instances_[i];
  resolve(in, work_->schedule->at(action.target), targets_);
  Count n = 0;
  for (const Span& s : targets_) n += s.n;
  if (n == 0 && action.target.count > 0) return;  // the sender knows as well that there is nothing to send
  Message& message = in.arriving[index];
  message = {nullptr, n * work_->element.size, action.peer, false};
  std::byte* at = nullptr;
  if (action.kind == ActionKind::receive && work_->element.dense && targets_.size() == 1)
    at = targets_[0].at;
  else if (n > 0)
    at = message.bounce = in.arena.take(message.bytes);
  transport_->receive(action.peer, static_cast<int>(i), at, message.bytes, ticket(i, index, false));
}

void Engine::post_send(std::size_t i, std::size_t index, const Send& send) {
  Instance& in = instances_[i];
  resolve(in, work_->schedule->at(send.blocks), sources_);
  Count n = 0;
  for (const Span& s : sources_) n += s.n;
  if (n == 0 && send.blocks.count > 0) return;
  const Bytes bytes = n * work_->element.size;
  const std::byte* at = nullptr;
  if (work_->element.dense && sources_.size() == 1)
    at = sources_[0].at;
  else if (n > 0)
    at = pack(in, sources_, bytes);
  in.leaving[index] = {nullptr, bytes, send.peer, false};
  ++in.sends_left;
  transport_->send(send.peer, static_cast<int>(i), at, bytes, ticket(i, index, true));
}

void Engine::advance(std::size_t i) {
  Instance& in = instances_[i];
  const Schedule& schedule = *work_->schedule;
  for (;;) {
    if (in.round == schedule.rounds.size()) {
      // Instance i takes every depth-th segment, on all ranks alike: whoever took the next free one would find its
      // peer at work on another.
      const Count next = in.segment + depth_;
      if (next >= segments_) break;
      start(i, next);
      continue;
    }
    const auto actions = schedule.actions_of(schedule.rounds[in.round]);
    for (; in.next_action < actions.size(); ++in.next_action) {
      const Message& message = in.arriving[in.next_action];
      const Action& action = actions[in.next_action];
      if (!message.complete || (action.after_sends && in.sends_left > 0)) return;
      perform(in, action, message);
    }
    if (in.sends_left > 0) return;
    ++in.round;
    enter_round(i);
  }
  in.active = false;
  --active_;
}

Engine::Span Engine::resolve(const Instance& in, const Range& range, Block first, Block count) const {
  const Element& element = work_->element;
  if (range.buffer == Buffer::scratch) {
    const Count begin = in.slot_first[static_cast<std::size_t>(first)];
    const Count end = in.slot_first[static_cast<std::size_t>(first + count)] - slot_gap();
    return {in.scratch + begin * element.extent, end - begin};
  }
  const Region& region = range.buffer == Buffer::input ? work_->input : work_->output;
  const Layout& layout = region.layout;
  const Piece head = layout.block(first, in.segment);
  const Piece tail = count == 1 ? head : layout.block(first + count - 1, in.segment);
  auto* base = static_cast<std::byte*>(region.at);
  return {base + (head.first - region.first) * element.extent, tail.first + tail.count - head.first};
}

/// Elements that interleave have room for those of one slot only.
Count Engine::slot_gap() const {
  const Element& element = work_->element;
  if (element.extent <= 0 || element.span <= element.extent) return 0;
  return (element.span - 1) / element.extent;
}

void Engine::resolve(const Instance& in, std::span<const Range> ranges, std::vector<Span>& spans) const {
  spans.clear();
  const auto add = [&](Span span) {
    if (span.n == 0) return;
    if (!spans.empty() && spans.back().at + spans.back().n * work_->element.extent == span.at)
      spans.back().n += span.n;
    else
      spans.push_back(span);
  };
  for (const Range& r : ranges) {
    const bool adjacent = r.buffer == Buffer::scratch
                              ? slot_gap() == 0
                              : (r.buffer == Buffer::input ? work_->input : work_->output).layout.adjacent();
    if (adjacent)
      add(resolve(in, r, r.first, r.count));
    else
      for (Block b = r.first; b < r.first + r.count; ++b) add(resolve(in, r, b, 1));
  }
}

void Engine::perform(Instance& in, const Action& action, const Message& message) {
  const Schedule& schedule = *work_->schedule;
  if (action.kind == ActionKind::receive && !message.bounce) return;
  resolve(in, schedule.at(action.target), targets_);
  if (targets_.empty()) return;
  switch (action.kind) {
    case ActionKind::receive: unpack(message.bounce, targets_); break;
    case ActionKind::copy:
      resolve(in, schedule.at(action.source), sources_);
      copy(in, sources_, targets_);
      break;
    case ActionKind::receive_reduce: {
      const std::byte* arrived = message.bounce;
      if (!work_->element.dense) {
        const Count n = message.bytes / work_->element.size;
        sources_.assign(1, {elements(in.arena, n), n});
        unpack(arrived, sources_);
        arrived = sources_[0].at;
      }
      resolve(in, schedule.at(action.operand), operands_);
      combine(action.side, arrived, operands_, targets_);
      break;
    }
    case ActionKind::reduce:
      resolve(in, schedule.at(action.source), sources_);
      resolve(in, schedule.at(action.operand), operands_);
      if (sources_.size() > 1) {  // rare: gather the pieces first
        Count n = 0;
        for (const Span& s : sources_) n += s.n;
        std::byte* gathered = elements(in.arena, n);
        const std::vector<Span> pieces = sources_;
        copy(in, pieces, {{gathered, n}});
        sources_.assign(1, {gathered, n});
      }
      combine(action.side, sources_[0].at, operands_, targets_);
      break;
  }
}

void Engine::combine(Side side, const std::byte* other, const std::vector<Span>& operand,
                     const std::vector<Span>& target) {
  const Combiner& combiner = work_->combiner;
  const Bytes extent = work_->element.extent;
  std::size_t o = 0;
  std::size_t t = 0;
  Count in_o = 0;
  Count in_t = 0;
  while (t < target.size()) {
    const Count n = std::min(operand[o].n - in_o, target[t].n - in_t);
    const std::byte* mine = operand[o].at + in_o * extent;
    std::byte* to = target[t].at + in_t * extent;
    combiner.combine(combiner, side == Side::left ? other : mine, side == Side::left ? mine : other, to, n);
    other += n * extent;
    if ((in_o += n) == operand[o].n) ++o, in_o = 0;
    if ((in_t += n) == target[t].n) ++t, in_t = 0;
  }
}

void Engine::copy(Instance& in, const std::vector<Span>& from, const std::vector<Span>& to) {
  if (from.size() == 1 && to.size() == 1 && from[0].at == to[0].at) return;  // in place
  if (work_->element.dense && from.size() == 1 && to.size() == 1) {
    std::memmove(to[0].at, from[0].at, static_cast<std::size_t>(from[0].n * work_->element.size));
    return;
  }
  Count n = 0;
  for (const Span& s : from) n += s.n;
  unpack(pack(in, from, n * work_->element.size), to);
}

std::byte* Engine::pack(Instance& in, const std::vector<Span>& spans, Bytes bytes) {
  const Element& element = work_->element;
  std::byte* packed = in.arena.take(bytes);
  std::byte* to = packed;
  for (const Span& s : spans) {
    if (element.dense)
      std::memcpy(to, s.at, static_cast<std::size_t>(s.n * element.size));
    else
      element.pack(element, s.at, s.n, to);
    to += s.n * element.size;
  }
  return packed;
}

void Engine::unpack(const std::byte* packed, const std::vector<Span>& spans) const {
  const Element& element = work_->element;
  for (const Span& s : spans) {
    if (element.dense)
      std::memcpy(s.at, packed, static_cast<std::size_t>(s.n * element.size));
    else
      element.unpack(element, packed, s.n, s.at);
    packed += s.n * element.size;
  }
}

std::byte* Engine::elements(Arena& arena, Count n) const {
  return arena.take(footprint(work_->element, n)) - work_->element.lower;
}

std::vector<Standstill> Engine::standstill() const {
  std::vector<Standstill> all;
  for (const Instance& in : instances_) {
    if (!in.active) continue;
    Standstill still{in.segment, in.round, {}};
    for (const Message& m : in.arriving)
      if (!m.complete) still.awaited.push_back({false, m.peer, m.bytes});
    for (const Message& m : in.leaving)
      if (!m.complete) still.awaited.push_back({true, m.peer, m.bytes});
    all.push_back(std::move(still));
  }
  return all;
}

}  // namespace stretto::execute

// SPDX-License-Identifier: BSD-3-Clause
#include "execute/operation.hpp"

#include <algorithm>
#include <utility>

#include "support/memory.hpp"

namespace stretto::execute {

void Operation::post(const Work& work, const Paths& paths, const Plan* ready) {
  begin(work, paths, ready);
  for (std::size_t i = 0; i < depth_; ++i) start(instances_[i], static_cast<Count>(i));
}

void Operation::begin(const Work& work, const Paths& paths, const Plan* ready) {
  is_fast_ = false;
  work_ = work;
  paths_ = paths;
  if (paths.node) paths_.node = &(node_ = *paths.node);
  key_ = shm::key_of(paths.tag.communicator, paths.tag.sequence);
  observer_ = paths.observer && paths.observer->closely() ? paths.observer : nullptr;
  ready_ = ready;
  segments_ = ready ? 1 : segments_of(work_);
  constexpr Count most_depth = 64;  // over shared memory shm::channels, which communicators see to
  depth_ = static_cast<std::size_t>(std::clamp<Count>(work.depth, 1, std::min<Count>(segments_, most_depth)));
  if (instances_.size() < depth_) instances_.resize(depth_);
  for (std::size_t i = 0; i < depth_; ++i) {
    instances_[i].channel = static_cast<int>(i);
    instances_[i].sent[0] = instances_[i].sent[1] = {};
  }
  if (const auto ranks = static_cast<std::size_t>(work.schedule->ranks); blocked_.size() < ranks)
    blocked_.resize(ranks);
  open_ = 0;
  failed_ = false;
  alike_ = segments_ > 1 && segments_alike(work_);
  resolved_[0] = resolved_[1] = false;
}

void Operation::abandon() {
  is_fast_ = false;
  for (Instance& in : instances_) {
    withdraw_lent(in);
    give_windows_back(in);
    in.active = false;
    in.unsent.clear();
    in.leaving.clear();
    in.sends_left = 0;
  }
  if (paths_.messages) paths_.messages->abandon(number_);  // also what peers send later
  active_ = open_ = 0;
  trim();
}

bool Operation::advance_all() {
  bool moved = false;
  for (std::size_t i = 0; i < depth_; ++i)
    if (instances_[i].active) moved |= advance(instances_[i]);
  if (active_ == 0) trim();
  return moved;
}

void Operation::unblock_sends() {
  leave_fast_path();
  if (!paths_.node) return;
  for (std::size_t i = 0; i < depth_; ++i)
    if (instances_[i].active) unblock_sends(instances_[i]);
}

bool Operation::drain() {
  leave_fast_path();
  bool moved = false;
  for (std::size_t i = 0; i < depth_; ++i)
    if (instances_[i].active) moved |= drain(instances_[i], true);
  return moved;
}

void Operation::trim() {
  for (Instance& in : instances_) {
    in.arena.trim();
    in.scratch_arena.trim();
  }
}

const Plan* Operation::resolve_single_segment(const Work& work) {
  if (segments_of(work) != 1) return nullptr;
  plans_[0].resolve(work, 0);
  plans_[0].find_fast_path(work);
  return &plans_[0];
}

const Plan& Operation::plan_of(Instance& in, Count segment) {
  if (ready_) return *ready_;
  if (!alike_) {
    in.own.resolve(work_, segment);
    return in.own;
  }
  const int which = segment + 1 == segments_ ? 1 : 0;
  if (!resolved_[which]) plans_[which].resolve(work_, segment);
  resolved_[which] = true;
  return plans_[which];
}

void Operation::start(Instance& in, Count segment) {
  occupy(in, segment);
  enter_round(in);
}

/// Makes `in` the instance of a segment.
void Operation::occupy(Instance& in, Count segment) {
  if (!in.active) ++active_;
  in.active = true;
  in.segment = segment;
  in.round = 0;
  in.forwarded = false;
  in.plan = &plan_of(in, segment);
  if (in.receives.size() < in.plan->widest) in.receives.resize(in.plan->widest);
  in.scratch = nullptr;
  if (in.plan->scratch > 0) {
    in.scratch_arena.reset();
    in.scratch = in.scratch_arena.take(in.plan->scratch) - work_.element.lower;
  }
  const Count shift = alike_ ? segment * longest_segment(work_) : 0;
  in.buffers.bind(work_, *in.plan, shift * work_.element.extent, in.scratch);
}

void Operation::enter_round(Instance& in) {
  if (in.round == in.plan->stages.size()) return;
  const Plan::Stage& stage = in.plan->stages[in.round];
  begin_round(in, stage);
  // Receives first: a message that finds its receive posted needs no buffer of the transport.
  if (paths_.messages) {
    post_receives(in, stage);
    post_sends(in, stage);
  }
  if (paths_.node) send_to_neighbours(in, stage);
}

void Operation::begin_round(Instance& in, const Plan::Stage& stage) {
  in.step = stage.first_step;
  in.arena.reset();
  std::fill_n(in.receives.begin(), stage.end_of_steps - stage.first_step, ReceiveState{});
}

bool Operation::advance(Instance& in) {
  bool moved = !in.unsent.empty() && pump(in);
  for (;;) {
    if (in.round == in.plan->stages.size()) {
      // Instance i takes every depth-th segment, on all ranks alike: whoever took the next free one would find its
      // peer at work on another.
      const Count next = in.segment + static_cast<Count>(depth_);
      moved = true;
      if (next >= segments_) break;
      start(in, next);
      continue;
    }
    const Plan::Stage& stage = in.plan->stages[in.round];
    for (; in.step < stage.end_of_steps; ++in.step, moved = true)
      if (!carry_out(in, in.step)) {
        // The peer may read what was lent to it only when its own has been read.
        if (!in.unsent.empty() && held(in, in.plan->steps[in.step])) moved |= drain(in, false);
        return moved;
      }
    if (in.sends_left > 0 || !in.unsent.empty()) return moved;
    moved = true;
    ++in.round;
    enter_round(in);
  }
  in.active = false;
  --active_;
  return true;
}

/// A long one in pieces. Between them messages leave, for their receivers would wait for the next fragments, and
/// senders are asked to copy what they lend.
void Operation::copy(Instance& in, const Plan::Step& step) {
  constexpr Bytes piece = 128 << 10;
  const bool receives = gets_help(in);
  const bool in_pieces =
      step.bytes > piece &&
      (receives || std::ranges::any_of(in.unsent, [](const SendState& state) { return !state.lend; })) &&
      in.buffers.can_copy_in_pieces(step);
  for (Bytes first = 0, bytes = in_pieces ? piece : step.bytes; first < step.bytes; first += bytes) {
    bytes = std::min(bytes, step.bytes - first);
    if (in_pieces && receives) ask_for_help(in);
    const Nanoseconds begin = seen();
    in_pieces ? in.buffers.copy_piece(step, first, bytes) : in.buffers.copy(step, in.arena);
    done(begin, Activity::copy, no_rank, bytes, in);
    if (in_pieces && !in.unsent.empty()) pump(in);
  }
}

/// False: its message has not come, or what it writes has not left.
bool Operation::carry_out(Instance& in, std::uint32_t index) {
  const Plan::Step& step = in.plan->steps[index];
  const bool later = held(in, step);
  if (step.kind == ActionKind::copy || step.kind == ActionKind::reduce) {
    if (later) return false;
    if (step.kind == ActionKind::copy) {
      copy(in, step);
      return true;
    }
    const Nanoseconds begin = seen();
    in.buffers.reduce(step, in.arena);
    done(begin, Activity::reduce, no_rank, step.bytes, in);
    return true;
  }
  const ReceiveState& receive = in.receives[index - in.plan->stages[in.round].first_step];
  if (step.bytes >= shm::least_shared && in.plan->stages[in.round].receives > 1 && gets_help(in)) ask_for_help(in);
  // Taken all the same, into the bounce buffer: the peer's sends, too, may wait for that.
  if (!receive.complete && !(neighbour(step.peer) && take(in, index, !later, false))) return false;
  if (later) return false;
  if (receive.bounce && !receive.dropped) deliver_bounced(in, step, receive);
  return true;
}

/// A fragment of a message, `receive.got` bytes after its beginning; `in_ring`: the sender has just written it.
void Operation::deliver(Instance& in, const Plan::Step& step, ReceiveState& receive, const std::byte* fragment,
                        Bytes bytes, bool in_ring) {
  const Bytes size = work_.element.size;
  if (!receive.bounce && bytes % size != 0) receive.bounce = in.arena.take(step.bytes);  // a cut element
  if (receive.bounce)
    copy_bytes(receive.bounce + receive.got, fragment, bytes);
  else if (step.kind == ActionKind::receive && in_ring && in.buffers.may_go_by_lines(step, fragment))
    selectors_.loads.run(
        bytes, [&](bool as_memcpy) { in.buffers.store(step, receive.got / size, bytes / size, fragment, !as_memcpy); });
  else if (step.kind == ActionKind::receive)
    in.buffers.store(step, receive.got / size, bytes / size, fragment);
  else
    in.buffers.combine_message(step, receive.got / size, bytes / size, fragment, in.arena);
  receive.got += bytes;
}

/// A message that was bounced is all there.
void Operation::deliver_bounced(Instance& in, const Plan::Step& step, const ReceiveState& receive) {
  const Count n = step.bytes / work_.element.size;
  const bool stores = step.kind == ActionKind::receive;
  const Nanoseconds begin = seen();
  if (stores)
    in.buffers.store(step, 0, n, receive.bounce);
  else
    in.buffers.combine_message(step, 0, n, receive.bounce, in.arena);
  done(begin, stores ? Activity::copy : Activity::reduce, no_rank, step.bytes, in);
}

std::vector<Stall> Operation::stalls() {
  leave_fast_path();
  std::vector<Stall> all;
  for (const Instance& in : instances_) {
    if (!in.active) continue;
    Stall still{in.segment, in.round, {}};
    if (in.round < in.plan->stages.size()) {
      const Plan::Stage& stage = in.plan->stages[in.round];
      for (std::uint32_t s = in.step; s < stage.end_of_steps; ++s) {
        const Plan::Step& step = in.plan->steps[s];
        const bool receives = is_receive(step.kind);
        if (receives && !in.receives[s - stage.first_step].complete)
          still.awaited.push_back({false, step.peer, step.bytes});
      }
    }
    for (const PostedSend& m : in.leaving)
      if (!m.complete) still.awaited.push_back({true, m.peer, m.bytes});
    for (const SendState& d : in.unsent)
      for (std::uint32_t s = d.send; s < d.send + d.readers; ++s)
        still.awaited.push_back({true, in.plan->sends[s].peer, in.plan->sends[s].bytes});
    all.push_back(std::move(still));
  }
  return all;
}

std::string stall_report(const Schedule& schedule, const std::vector<Stall>& stalls, const std::string& call) {
  std::string text = "rank " + std::to_string(schedule.rank) + " of " + std::to_string(schedule.ranks) + " hangs in " +
                     call + ", algorithm " + schedule.algorithm;
  for (const Stall& s : stalls) {
    text += "\n  segment " + std::to_string(s.segment) + ", round " + std::to_string(s.round + 1) + " of " +
            std::to_string(schedule.rounds.size()) + ", waits";
    for (std::size_t i = 0; i < s.awaited.size(); ++i) {
      const Awaited& a = s.awaited[i];
      text += std::string(i == 0 ? " to " : " and to ") + (a.send ? "send " : "receive ") + std::to_string(a.bytes) +
              " bytes " + (a.send ? "to" : "from") + " rank " + std::to_string(a.peer);
    }
  }
  return text + "\nthe schedule:\n" + to_text(schedule);
}

}  // namespace stretto::execute

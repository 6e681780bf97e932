// SPDX-License-Identifier: BSD-3-Clause
#include "execute/engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stretto::execute {

using transport::Outcome;

namespace {

constexpr Count most_depth = 64;  // lanes, where ranks share memory

}  // namespace

Outcome Engine::run(const Work& work, const Paths& paths, const Deadline& deadline, const Program* ready) {
  const bool brief = ready && has_short_way(paths, *ready);
  Place reached;
  if (brief && run_brief(work, paths, *ready, reached)) return Outcome::ok;
  begin(work, paths, ready);
  if (brief)
    take_over(instances_[0], reached);
  else
    for (std::size_t i = 0; i < depth_; ++i) start(instances_[i], static_cast<Count>(i));
  static constexpr transport::shm::WaitPolicy none{};
  transport::shm::Patience patience(paths.node ? paths.node->policy : none, paths.node ? paths.node->bell : nullptr);
  Deadline expires;  // of this wait, known once it is long
  bool long_wait = false;
  const auto resume = [&] {
    patience.begin_anew();
    if (std::exchange(long_wait, false) && paths_.observer) paths_.observer->resumes();
  };
  for (;;) {
    bool moved = false;
    for (std::size_t i = 0; i < depth_; ++i)
      if (instances_[i].active) moved |= advance(instances_[i]);
    if (active_ == 0) {
      resume();
      break;
    }
    if (open_ > 0 || !paths_.node) {
      const std::size_t before = open_;
      const Outcome outcome = collect(!paths_.node, deadline);
      if (outcome != Outcome::ok) return outcome;
      moved |= open_ < before;
    }
    if (moved) {
      resume();
      continue;
    }
    if (observer_) [[unlikely]]
      observer_->idle();
    if (patience.at_rest()) {
      for (std::size_t i = 0; i < depth_; ++i)
        if (instances_[i].active) moved |= drain(instances_[i]);
      if (moved) {
        resume();
        continue;
      }
      if (patience.time_for_others() && !paths_.go_on()) return Outcome::failed;
      if (!std::exchange(long_wait, true)) {
        expires = deadline.renewed();
        if (paths_.observer) paths_.observer->rests();
      }
      if (expires.expired()) return Outcome::expired;
    }
    patience.look_again(open_ == 0);
  }
  trim();
  return mismatch_ ? Outcome::failed : Outcome::ok;
}

void Engine::begin(const Work& work, const Paths& paths, const Program* ready) {
  work_ = &work;
  paths_ = paths;
  observer_ = paths.observer && paths.observer->closely() ? paths.observer : nullptr;
  ready_ = ready;
  segments_ = ready ? 1 : segments_of(work);
  depth_ = static_cast<std::size_t>(std::clamp<Count>(work.depth, 1, std::min<Count>(segments_, most_depth)));
  if (instances_.size() < depth_) {
    instances_.resize(depth_);
    for (std::size_t i = 0; i < depth_; ++i) instances_[i].lane = static_cast<int>(i);
  }
  if (active_ > 0) {  // left by a call that failed
    for (Instance& in : instances_) {
      in.active = false;
      in.unsent.clear();
      in.leaving.clear();
      in.sends_left = 0;
    }
    active_ = 0;
    trim();
  }
  if (const auto ranks = static_cast<std::size_t>(work.schedule->ranks); blocked_.size() < ranks)
    blocked_.resize(ranks);
  open_ = 0;
  mismatch_ = false;
  alike_ = segments_ > 1 && segments_alike(work);
  resolved_[0] = resolved_[1] = false;
}

void Engine::trim() {
  for (Instance& in : instances_) {
    in.arena.trim();
    in.scratch_arena.trim();
  }
}

const Program& Engine::program_of(Instance& in, Count segment) {
  if (ready_) return *ready_;
  if (!alike_) {
    in.own.resolve(*work_, segment);
    return in.own;
  }
  const int which = segment + 1 == segments_ ? 1 : 0;
  if (!resolved_[which]) programs_[which].resolve(*work_, segment);
  resolved_[which] = true;
  return programs_[which];
}

void Engine::start(Instance& in, Count segment) {
  occupy(in, segment);
  enter_round(in);
}

/// Makes `in` the instance of a segment.
void Engine::occupy(Instance& in, Count segment) {
  if (!in.active) ++active_;
  in.active = true;
  in.segment = segment;
  in.round = 0;
  in.program = &program_of(in, segment);
  if (in.arrivals.size() < in.program->widest) in.arrivals.resize(in.program->widest);
  in.scratch = nullptr;
  if (in.program->scratch > 0) {
    in.scratch_arena.reset();
    in.scratch = in.scratch_arena.take(in.program->scratch) - work_->element.lower;
  }
  const Count shift = alike_ ? segment * longest_segment(*work_) : 0;
  in.buffers.bind(*work_, *in.program, shift * work_->element.extent, in.scratch);
}

void Engine::enter_round(Instance& in) {
  if (in.round == in.program->stages.size()) return;
  const Program::Stage& stage = in.program->stages[in.round];
  begin_round(in, stage);
  // Receives first: a message that finds its receive posted needs no buffer of the transport.
  if (paths_.messages) {
    post_receives(in, stage);
    post_sends(in, stage);
  }
  if (paths_.node) send_to_neighbours(in, stage);
}

void Engine::begin_round(Instance& in, const Program::Stage& stage) {
  in.step = stage.first_step;
  in.arena.reset();
  std::fill_n(in.arrivals.begin(), stage.end_of_steps - stage.first_step, Arrival{});
}

bool Engine::advance(Instance& in) {
  bool moved = !in.unsent.empty() && pump(in);
  for (;;) {
    if (in.round == in.program->stages.size()) {
      // Instance i takes every depth-th segment, on all ranks alike: whoever took the next free one would find its
      // peer at work on another.
      const Count next = in.segment + static_cast<Count>(depth_);
      moved = true;
      if (next >= segments_) break;
      start(in, next);
      continue;
    }
    const Program::Stage& stage = in.program->stages[in.round];
    for (; in.step < stage.end_of_steps; ++in.step, moved = true)
      if (!carry_out(in, in.step)) return moved;
    if (in.sends_left > 0 || !in.unsent.empty()) return moved;
    moved = true;
    ++in.round;
    enter_round(in);
  }
  in.active = false;
  --active_;
  return true;
}

/// False: its message has not come, or what it writes has not left.
bool Engine::carry_out(Instance& in, std::uint32_t index) {
  const Program::Step& step = in.program->steps[index];
  const bool later = held(in, step);
  if (step.kind == ActionKind::copy || step.kind == ActionKind::reduce) {
    if (later) return false;
    const bool copies = step.kind == ActionKind::copy;
    const Nanoseconds begin = active();
    copies ? in.buffers.copy(step, in.arena) : in.buffers.reduce(step, in.arena);
    done(begin, copies ? Activity::copy : Activity::reduce, no_rank, step.bytes, in);
    return true;
  }
  const Arrival& arrival = in.arrivals[index - in.program->stages[in.round].first_step];
  // Taken all the same, and put aside: the peer's sends, too, may wait for that.
  if (!arrival.complete && !(neighbour(step.peer) && take(in, index, !later))) return false;
  if (later) return false;
  if (arrival.bounce && !arrival.dropped) arrived(in, step, arrival);
  return true;
}

/// A part of a message, `arrival.got` bytes after its beginning.
void Engine::deliver(Instance& in, const Program::Step& step, Arrival& arrival, const std::byte* part, Bytes bytes) {
  const Bytes size = work_->element.size;
  if (!arrival.bounce && bytes % size != 0) arrival.bounce = in.arena.take(step.bytes);  // parts of an element
  if (arrival.bounce)
    std::memcpy(arrival.bounce + arrival.got, part, static_cast<std::size_t>(bytes));
  else if (step.kind == ActionKind::receive)
    in.buffers.store(step, arrival.got / size, bytes / size, part);
  else
    in.buffers.combine_message(step, arrival.got / size, bytes / size, part, in.arena);
  arrival.got += bytes;
}

/// A message that was put aside is all there.
void Engine::arrived(Instance& in, const Program::Step& step, const Arrival& arrival) {
  const Count n = step.bytes / work_->element.size;
  const bool stores = step.kind == ActionKind::receive;
  const Nanoseconds begin = active();
  if (stores)
    in.buffers.store(step, 0, n, arrival.bounce);
  else
    in.buffers.combine_message(step, 0, n, arrival.bounce, in.arena);
  done(begin, stores ? Activity::copy : Activity::reduce, no_rank, step.bytes, in);
}

std::vector<Standstill> Engine::standstill() const {
  std::vector<Standstill> all;
  for (const Instance& in : instances_) {
    if (!in.active) continue;
    Standstill still{in.segment, in.round, {}};
    if (in.round < in.program->stages.size()) {
      const Program::Stage& stage = in.program->stages[in.round];
      for (std::uint32_t s = in.step; s < stage.end_of_steps; ++s) {
        const Program::Step& step = in.program->steps[s];
        const bool receives = is_receive(step.kind);
        if (receives && !in.arrivals[s - stage.first_step].complete)
          still.awaited.push_back({false, step.peer, step.bytes});
      }
    }
    for (const Message& m : in.leaving)
      if (!m.complete) still.awaited.push_back({true, m.peer, m.bytes});
    for (const Departure& d : in.unsent)
      for (std::uint32_t s = d.send; s < d.send + d.readers; ++s)
        still.awaited.push_back({true, in.program->sends[s].peer, in.program->sends[s].bytes});
    all.push_back(std::move(still));
  }
  return all;
}

}  // namespace stretto::execute

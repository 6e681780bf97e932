// SPDX-License-Identifier: BSD-3-Clause
#include "execute/progress.hpp"

#include <algorithm>
#include <utility>

namespace stretto::execute {

using transport::Outcome;

void Progress::add_unused() {
  all_.push_back(std::make_unique<Operation>(static_cast<std::uint32_t>(all_.size()), selectors_, looks_));
  unused_.push_back(all_.back().get());
}

/// Gives up an operation that is left by an exception: the program's error handler may throw one when a type of its own
/// cannot be packed, and its buffers may be gone when this is used next.
struct Progress::Release {
  Progress& progress;
  void operator()(Operation* operation) const { progress.release(*operation); }
};

Operation& Progress::take_unused() {
  Operation& operation = unused();
  posted_.push_back(&operation);
  unused_.pop_back();
  return operation;
}

Operation& Progress::post(const Work& work, const Paths& paths, const Plan* ready, Owner* owner) {
  Guard operation(&take_unused(), Release{*this});
  operation->owner = owner;
  operation->post(work, paths, ready);
  return *operation.release();
}

Operation* Progress::post_short(const Work& work, const Paths& paths, const Plan& ready, Owner* owner) {
  // Of two ranks, less time than it takes to post the operation and to look for it again. Others do not wait for all.
  constexpr std::size_t polls_in_all = 16;
  if (!Operation::takes_fast_path(paths, ready)) return &post(work, paths, &ready, owner);
  Operation::Position reached = Operation::beginning_of(ready);
  const auto few = static_cast<int>(polls_in_all / std::max(ready.steps.size(), std::size_t{1}));
  const int polls = paths.node ? std::clamp(few, 1, paths.node->policy.polls) : 1;
  const Operation::Stop stop = unused().run_fast(work, paths, ready, reached, polls);
  if (stop == Operation::Stop::end) return nullptr;
  Guard operation(&take_unused(), Release{*this});
  operation->owner = owner;
  operation->resume_fast(work, paths, ready, reached);
  if (stop == Operation::Stop::other_path) operation->advance();  // what it sends leaves now
  return operation.release();
}

void Progress::release(Operation& operation) {
  if (operation.active()) operation.abandon();
  operation.owner = nullptr;
  if (posted_.back() == &operation)  // most often it is the only one
    posted_.pop_back();
  else
    std::erase(posted_, &operation);
  if (!ended_.empty()) std::erase(ended_, &operation);
  unused_.push_back(&operation);
}

Outcome Progress::run(const Work& work, const Paths& paths, const Deadline& deadline, const Plan* ready) {
  // Of a call that tells sizes, what arrives in scratch is asked for afterwards.
  const bool scratch_may_be_read = !ready;
  if (!ready && !paths.messages) ready = unused().resolve_single_segment(work);
  if (!ready || (scratch_may_be_read && ready->scratch > 0) || !Operation::takes_fast_path(paths, *ready))
    return finish(post(work, paths, ready), deadline);
  Operation::Position reached = Operation::beginning_of(*ready);
  const int polls = paths.node ? paths.node->policy.polls : 1;
  if (unused().run_fast(work, paths, *ready, reached, polls) == Operation::Stop::end) return Outcome::ok;
  Guard operation(&take_unused(), Release{*this});
  operation->resume(work, paths, *ready, reached);
  return finish(*operation.release(), deadline);
}

Outcome Progress::finish(Operation& operation, const Deadline& deadline) {
  const Guard guard(&operation, Release{*this});
  const Outcome outcome = wait(operation, deadline);
  scratch_ = operation.scratch();
  stalls_.clear();
  if (outcome != Outcome::ok) stalls_ = operation.stalls();
  return outcome;
}

bool Progress::advance_all(const Rights& rights) {
  bool moved = false;
  ++looks_;
  for (Operation* operation : posted_) {
    if (!operation->active() || !rights.cover(operation->paths().needed)) continue;
    moved |= operation->advance();
    if (operation->owner && !operation->active()) ended_.push_back(operation);
  }
  moves_ += moved;
  return moved;
}

bool Progress::drain_all(const Rights& rights) {
  bool moved = false;
  for (Operation* operation : posted_)
    if (operation->active() && rights.cover(operation->paths().needed)) moved |= operation->drain();
  moves_ += moved;
  return moved;
}

void Progress::unblock_all(const Rights& rights) {
  for (Operation* operation : posted_)
    if (operation->active() && rights.cover(operation->paths().needed)) operation->unblock_sends();
}

void Progress::tell_owners() {
  while (!ended_.empty()) {
    Operation* const operation = ended_.back();
    ended_.pop_back();
    operation->owner->ended(*operation);
  }
}

// Whoever polls instead of waiting polls often: what wait() does after some time is done after some polls here.
bool Progress::poll(const Rights& rights) {
  constexpr unsigned before_draining = 16, before_unblocking = 4096;
  bool moved = collect(rights);
  moved |= advance_all(rights);
  if (!moved && ++idle_polls_ % before_draining == 0) {
    moved = drain_all(rights);
    if (idle_polls_ % before_unblocking == 0) unblock_all(rights);
  }
  if (moved) idle_polls_ = 0;
  tell_owners();
  return moved;
}

Outcome Progress::wait(Operation& operation, const Deadline& deadline) {
  const auto done = [&] { return !operation.active(); };
  const Outcome outcome = wait_until(done, operation.paths(), &operation, true, deadline);
  return outcome == Outcome::ok ? operation.outcome() : outcome;
}

Outcome Progress::wait(FunctionRef<bool()> done, const Paths& paths, bool may_block, const Deadline& deadline) {
  return wait_until(done, paths, nullptr, may_block, deadline);
}

/// `only`: if no other operation is posted, there is nothing to do but to wait for its messages.
template <typename Done>
Outcome Progress::wait_until(Done done, const Paths& paths, Operation* only, bool may_block, const Deadline& deadline) {
  constexpr std::chrono::milliseconds until_others_are_in_the_way{10};
  static constexpr shm::WaitPolicy none{};
  shm::Backoff backoff(paths.node ? paths.node->policy : none, paths.node ? paths.node->doorbell : nullptr);
  Deadline expires, too_long;  // of this wait, known once it is long
  bool long_wait = false;
  const auto resume = [&] {
    backoff.reset();
    if (std::exchange(long_wait, false) && paths.observer) paths.observer->resumes();
  };
  for (;;) {
    bool moved = advance_all();
    if (!ended_.empty()) tell_owners();
    if (done()) break;
    if (only && !paths.node && posted_.size() == 1) {
      const Outcome outcome = await(*only, deadline);
      if (outcome != Outcome::ok) return outcome;
      continue;
    }
    moved |= collect();
    if (moved) {
      resume();
      continue;
    }
    if (paths.observer && paths.observer->closely()) [[unlikely]]
      paths.observer->idle();
    if (backoff.yielding()) {
      if (drain_all()) {
        resume();
        continue;
      }
      if (backoff.time_to_attend() && !paths.go_on()) return Outcome::failed;
      if (!std::exchange(long_wait, true)) {
        expires = deadline.renewed();
        too_long = Deadline::in(until_others_are_in_the_way);
        if (paths.observer) paths.observer->yields();
      }
      if (expires.expired()) return Outcome::expired;
      if (too_long.expired()) unblock_all();
    }
    const auto polled = std::ranges::find_if(posted_, [](const Operation* one) { return one->open() > 0; });
    if (polled == posted_.end())
      backoff.wait(may_block);
    else  // a second yield would be one turn more of everybody else
      backoff.wait(false, (*polled)->paths().messages->poll_yields());
  }
  resume();
  return Outcome::ok;
}

bool Progress::collect(const Rights& rights) {
  bool moved = false;
  for (Operation* operation : posted_) {
    if (operation->open() == 0 || !rights.cover(operation->paths().needed)) continue;
    const Outcome outcome = operation->paths().messages->poll(done_);
    moved |= outcome != Outcome::ok || !done_.empty();
    tell();
    if (outcome == Outcome::ok) continue;
    operation->abandon();
    operation->fail();
    if (operation->owner) ended_.push_back(operation);
  }
  moves_ += moved;
  return moved;
}

/// Hands out what came: a transport's messages may be of several operations.
void Progress::tell() {
  for (const transport::Ticket ticket : done_) all_[transport::operation_of(ticket)]->complete(ticket);
  done_.clear();
}

Outcome Progress::await(Operation& operation, const Deadline& deadline) {
  constexpr std::chrono::milliseconds slice{10};
  if (operation.open() == 0) return Outcome::failed;  // waits, but for no message
  const Paths& paths = operation.paths();
  const Deadline expires = deadline.renewed();
  if (paths.observer && paths.observer->closely()) [[unlikely]]
    paths.observer->idle();
  for (;;) {
    const Outcome outcome = paths.messages->wait(done_, paths.attend ? expires.within(slice) : expires);
    tell();
    if (outcome != Outcome::expired || expires.expired()) return outcome;
    if (!paths.go_on()) return Outcome::failed;
  }
}

}  // namespace stretto::execute

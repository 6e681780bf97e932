// SPDX-License-Identifier: BSD-3-Clause
#include "execute/progress.hpp"

#include <algorithm>
#include <utility>

namespace stretto::execute {

using transport::Outcome;

Operation& Progress::unused() {
  if (unused_.empty()) {
    all_.push_back(std::make_unique<Operation>(static_cast<std::uint32_t>(all_.size()), stores_));
    unused_.push_back(all_.back().get());
  }
  return *unused_.back();
}

/// Gives up an operation that is left by an exception: the program's error handler may throw one when a type of its own
/// cannot be packed, and its buffers may be gone when this is used next.
class Progress::Guard {
 public:
  Guard(Progress& progress, Operation& operation) : progress_(progress), operation_(&operation) {}
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() {
    if (operation_) progress_.release(*operation_);
  }
  Operation* operator->() const { return operation_; }
  Operation& dismiss() { return *std::exchange(operation_, nullptr); }

 private:
  Progress& progress_;
  Operation* operation_;
};

Operation& Progress::take_unused() {
  Operation& operation = unused();
  posted_.push_back(&operation);
  unused_.pop_back();
  return operation;
}

Operation& Progress::post(const Work& work, const Paths& paths, const Plan* ready) {
  Guard operation(*this, take_unused());
  operation->post(work, paths, ready);
  return operation.dismiss();
}

void Progress::release(Operation& operation) {
  if (operation.active()) operation.abandon();
  std::erase(posted_, &operation);
  unused_.push_back(&operation);
}

Outcome Progress::run(const Work& work, const Paths& paths, const Deadline& deadline, const Plan* ready) {
  if (!ready || !Operation::has_fast_path(paths, *ready)) return finish(post(work, paths, ready), deadline);
  Operation::Position reached;
  if (unused().run_fast(work, paths, *ready, reached)) return Outcome::ok;
  Guard operation(*this, take_unused());
  operation->resume(work, paths, *ready, reached);
  return finish(operation.dismiss(), deadline);
}

Outcome Progress::finish(Operation& operation, const Deadline& deadline) {
  const Guard guard(*this, operation);
  const Outcome outcome = wait(operation, deadline);
  scratch_ = operation.scratch();
  stalls_.clear();
  if (outcome != Outcome::ok) stalls_ = operation.stalls();
  return outcome;
}

bool Progress::advance_all() {
  bool moved = false;
  for (Operation* operation : posted_)
    if (operation->active()) moved |= operation->advance();
  return moved;
}

bool Progress::poll() {
  const bool came = collect();
  return advance_all() || came;
}

Outcome Progress::wait(Operation& operation, const Deadline& deadline) {
  constexpr std::chrono::milliseconds until_others_are_in_the_way{10};
  static constexpr transport::shm::WaitPolicy none{};
  const Paths& paths = operation.paths();
  transport::shm::Backoff backoff(paths.node ? paths.node->policy : none, paths.node ? paths.node->doorbell : nullptr);
  Deadline expires, too_long;  // of this wait, known once it is long
  bool long_wait = false;
  const auto resume = [&] {
    backoff.reset();
    if (std::exchange(long_wait, false) && paths.observer) paths.observer->resumes();
  };
  for (;;) {
    bool moved = advance_all();
    if (!operation.active()) break;
    if (!paths.node && posted_.size() == 1) {
      const Outcome outcome = await(operation, deadline);
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
      for (Operation* one : posted_)
        if (one->active()) moved |= one->drain();
      if (moved) {
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
      if (too_long.expired())
        for (Operation* one : posted_)
          if (one->active()) one->unblock_sends();
    }
    backoff.wait(std::ranges::all_of(posted_, [](const Operation* one) { return one->open() == 0; }));
  }
  resume();
  return operation.outcome();
}

bool Progress::collect() {
  bool moved = false;
  for (Operation* operation : posted_) {
    if (operation->open() == 0) continue;
    const Outcome outcome = operation->paths().messages->poll(done_);
    moved |= outcome != Outcome::ok || !done_.empty();
    tell();
    if (outcome == Outcome::ok) continue;
    operation->abandon();
    operation->fail();
  }
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

// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/nonblocking_call.hpp"

#include <algorithm>
#include <utility>

#include "mpi/types.hpp"
#include "prepare/background.hpp"
#include "prepare/perform.hpp"

namespace stretto::intercept {
namespace {

// Stages that a call of unknown sizes may have before the collective. Their number is found out while it is under way,
// so that tags are kept for all: the next call must not wait for that.
constexpr std::uint32_t most_stages_before = 3;

/// Not where a thread moves calls on: what ranks tell each other may end there, and the native library, which it must
/// not call, may be next.
Counts counted() { return polls_in_a_thread() ? Counts::none : Counts::nonblocking; }

}  // namespace

bool NonblockingCall::start(Communicator& c, const Arguments& arguments, FunctionRef<NativeStart()> native) {
  describe(c, arguments);
  begin();
  turn_ = {};
  watch_ = {};
  begun_ = pending_calls() == 1 ? calls_begun() : 0;
  tag_ = c.next_tag((facts(function()).bytes_known ? 0 : most_stages_before) + (c.learner ? 1 : 0));
  stages_ = 0;
  native_request_ = constants().request_null;
  if (c.undecided.empty()) {
    if (start_kept()) return true;
    prepared_.emplace(c, arguments_, memory_);
    prepared_->take_turn(counted());
    if (!step()) {
      if (timed()) {  // its end is to be seen
        native_ = native();
        return start_natively();
      }
      leave();
      return false;
    }
    if (prepared_) prepared_->hold_handles(held_);
    if (!prepared_ || prepared_->is_collective()) return true;
  } else {
    queue();
  }
  native_ = native();
  undecided_ = true;
  c.undecided.push_back(this);
  return true;
}

/// Its turn comes later, and the program may free its handles before.
void NonblockingCall::queue() {
  PreparedCall call(*c_, arguments_, memory_);
  if (call.servable()) call.hold_handles(held_);
  memory_.trim();
}

/// The same call as one whose plan is kept.
bool NonblockingCall::start_kept() {
  const auto* const found = c_->plans.find(arguments_, Counts::nonblocking);
  if (!found || !(*found)->algorithm) return false;
  kept_ = *found;
  kept_->count_down(Counts::nonblocking);
  if (!c_->records) {
    count_again(*c_, *kept_);
  } else {  // which would be one of the blocking calls that are sampled
    times.served(*kept_->algorithm);
    count_served(*c_, *kept_->served, *kept_->algorithm);
  }
  post(kept_->work, next_tag(), &kept_->plan);
  if (!operation_->active()) ended(*operation_);
  return true;
}

void NonblockingCall::count(execute::Work& work) {
  const Decision& decision = prepared_->decision();
  times.served(*decision.algorithm);
  count_served(*c_, *decision.served, *decision.algorithm);
  complete_work(*c_, decision, work);
  kept_ = keep_plan(*c_, *prepared_, work, false);
}

/// Goes on until messages are missing, or to the end. False: the caller is to leave the call to the native library.
bool NonblockingCall::step() {
  const PackingFor program(c_->comm());
  for (;;) {
    const bool more = prepared_->next(operation_ ? operation_->scratch() : nullptr);
    turn_ = prepared_->turn();
    release();
    if (!more) return end_prepared();
    execute::Work work = prepared_->work();
    const bool collective = prepared_->is_collective();
    if (collective) count(work);
    if (timed()) watch_.posted = execute::now();
    post(kept_ ? kept_->work : work, next_tag(), kept_ ? &kept_->plan : nullptr);
    if (timed()) watch_.returned = execute::now();
    if (collective) decide();
    if (operation_->active()) return true;
    if (operation_->outcome() != transport::Outcome::ok) {
      finish(process_worker().failure(*c_));
      return true;
    }
  }
}

bool NonblockingCall::end_prepared() {
  const Served code = prepared_->end();
  if (code) {
    reported_ = prepared_->reported();
    finish(*code);
    return true;
  }
  prepared_.reset();
  memory_.trim();
  return native_ && start_natively();
}

bool NonblockingCall::start_natively() {
  times.passed(passed_call().reason);
  if (timed()) watch_.posted = execute::now();
  const int begun = native_(&native_request_);
  if (timed()) watch_.returned = execute::now();
  decide();
  if (begun != MPI_SUCCESS) {
    native_request_ = constants().request_null;
    reported_ = true;
    finish(begun);
  }
  return true;
}

/// From now on this call does nothing more that later ones on the communicator must wait for.
void NonblockingCall::decide() {
  if (!std::exchange(undecided_, false)) return;
  auto& calls = c_->undecided;
  const bool is_first = calls.front() == this;
  std::erase(calls, this);
  // Each that can decide at once takes the next one along.
  if (is_first && !calls.empty()) calls.front()->start_queued();
}

void NonblockingCall::start_queued() {
  if (start_kept()) return decide();
  prepared_.emplace(*c_, arguments_, memory_);
  prepared_->take_turn(counted());
  step();
}

void NonblockingCall::ended(execute::Operation& operation) {
  if (operation.outcome() != transport::Outcome::ok)
    finish(process_worker().failure(*c_));
  else if (prepared_)
    step();
  else
    finish(MPI_SUCCESS);
}

void NonblockingCall::finish(int code) {
  prepared_.reset();
  kept_.reset();
  memory_.trim();
  native_ = nullptr;
  held_.release();
  decide();
  if (timed()) watch_.ended = execute::now();
  PendingCall::finish(code);
}

/// Where others were under way with it, nobody knows how long it would have taken.
void NonblockingCall::tell_time() {
  if (timed() && begun_ != 0 && begun_ == calls_begun()) turn_.tell(learn::span_of(watch_));
  turn_ = {};
}

void NonblockingCall::poll() {
  if (done() || native_request_ == constants().request_null) return;
  int complete = 0;
  const int code = native().Test(&native_request_, &complete, MPI_STATUS_IGNORE);
  if (!complete && code == MPI_SUCCESS) return;
  native_request_ = constants().request_null;
  reported_ = true;
  finish(code);
}

void NonblockingCall::give_up() {
  native_request_ = constants().request_null;
  finish(process_worker().failure(*c_));
}

const Schedule* NonblockingCall::schedule() const {
  if (kept_) return kept_->schedule.get();
  return prepared_ ? prepared_->schedule().get() : nullptr;
}

void await_decisions(Communicator& c) {
  while (!c.undecided.empty()) {
    NonblockingCall& first = *c.undecided.front();
    const auto decided = [&] {
      first.poll();
      return c.undecided.empty() || c.undecided.front() != &first;
    };
    switch (process_worker().wait(decided, c, true)) {
      case transport::Outcome::ok: break;
      case transport::Outcome::failed: first.give_up(); break;
      case transport::Outcome::expired: first.expired();
    }
  }
}

}  // namespace stretto::intercept

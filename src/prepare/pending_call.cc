// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/pending_call.hpp"

#include <sched.h>

#include <utility>

#include "mpi/types.hpp"
#include "prepare/background.hpp"

namespace stretto::mpi {

namespace {

std::uint64_t begun = 0;  // inside Entered

/// Of how many parts this rank must say something, of the input and of the output.
std::array<Rank, 2> parts_given(Communicator& c, const Signature& call) {
  const CollectiveFacts& collective = facts(facts(call.function).collective);
  if (collective.rooted && c.rank() != call.root) return {0, 0};
  if (!collective.neighbourhood) return {collective.pairwise && call.in_place ? 0 : c.ranks(), c.ranks()};
  const auto& graph = c.graph();
  if (!graph) return {0, 0};
  const Neighbours& near = graph->of(c.rank());
  return {static_cast<Rank>(near.destinations.size()), static_cast<Rank>(near.sources.size())};
}

}  // namespace

std::uint64_t calls_begun() { return begun; }

void PendingCall::describe(Communicator& c, const Arguments& arguments) {
  c_ = &c;
  arguments_ = arguments;
  if (arguments.parts[0] || arguments.parts[1]) arrays_.keep(arguments_, parts_given(c, arguments.signature));
}

void PendingCall::reset() {
  code_ = MPI_SUCCESS;
  reported_ = false;
  done_.store(false, std::memory_order_relaxed);
}

void PendingCall::begin() {
  reset();
  count_pending(1);
  ++begun;
  background_begins();
}

void PendingCall::end_at_once(int code) {
  ++begun;
  code_ = code;
}

void PendingCall::leave() {
  count_pending(-1);
  done_.store(true, std::memory_order_relaxed);
}

void PendingCall::post(const execute::Work& work, transport::Tag tag, const execute::Plan* ready) {
  Worker& worker = process_worker();
  const execute::Paths paths = worker.paths_of(*c_, tag);
  operation_ =
      ready ? worker.progress.post_short(work, paths, *ready, this) : &worker.progress.post(work, paths, nullptr, this);
  if (!operation_) return;
  // Nobody else has moved it on so far: this is inside Entered. Behind what persistent calls do nothing else follows.
  const bool last = persists() || !prepared_ || prepared_->is_collective();
  operation_->need(needed_for(*c_, last && prepared_ && prepared_->runs_own_operator(), !last));
}

bool PendingCall::spin() {
  if (!operation_ || !operation_->spin()) return false;
  ended(*operation_);
  return done();
}

void PendingCall::release() {
  if (operation_) process_worker().progress.release(*std::exchange(operation_, nullptr));
}

void PendingCall::finish(int code) {
  release();
  count_pending(-1);
  if (times) [[unlikely]]
    times.over();
  settle(code);
}

int PendingCall::end() {
  if (code_ == MPI_SUCCESS || reported_ || !c_) return code_;
  return raise(*c_, called(), code_);
}

std::string PendingCall::called() const { return mpi_name(function()); }

void PendingCall::after_wait(transport::Outcome outcome) {
  if (outcome == transport::Outcome::failed) return give_up();
  if (outcome != transport::Outcome::expired) return;
  const Schedule none{};
  const Schedule* const known = schedule();
  process_worker().expired(*c_, called(), known ? *known : none,
                           operation_ ? operation_->stalls() : std::vector<execute::Stall>{});
}

void PendingCall::wait_inside(SharedWait& shared_wait, FunctionRef<bool()> enough, bool alone) {
  if (done()) return;
  shared_wait.is_for(*this);
  const PackingFor program(c_->comm());
  const auto over = [&] {
    poll();
    return done() || enough();
  };
  after_wait(process_worker().wait(shared_wait, over, *c_, alone && only_messages()));
}

void await(PendingCall& call) {
  SharedWait shared_wait;
  while (!call.done()) {
    const Entered entered = shared_wait.enter(process_worker());
    if (!entered)
      sched_yield();
    else if (!call.done() && !call.spin())
      call.wait_inside(shared_wait, [] { return false; }, true);
  }
}

void await_all(Communicator& c, bool persistent_too) {
  Worker& w = process_worker();
  const auto unfinished = [&]() -> PendingCall* {
    for (std::size_t i = 0; i < c.pending.size();) {
      PendingCall* const call = c.pending[i];
      const std::size_t before = c.pending.size();
      if (persistent_too || !call->persists()) {
        call->poll();
        if (!call->done()) return call;
      }
      i = c.pending.size() == before ? i + 1 : 0;  // those that end leave the list
    }
    return nullptr;
  };
  SharedWait shared_wait;
  for (bool again = false;; again = true) {
    if (again) sched_yield();
    const Entered entered(w);  // others' waits then end, so that one may start what this one depends on
    const PackingFor program(c.comm());
    PendingCall* const first = unfinished();
    if (!first) return;
    shared_wait.is_for(*first);
    const auto outcome = w.wait(shared_wait, [&] { return unfinished() != first; }, c, false);
    if (outcome != transport::Outcome::failed)
      first->after_wait(outcome);
    else
      while (PendingCall* const call = unfinished()) call->give_up();
  }
}

}  // namespace stretto::mpi

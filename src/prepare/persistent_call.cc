// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/persistent_call.hpp"

#include <utility>

#include "mpi/bootstrap.hpp"
#include "mpi/types.hpp"

namespace stretto::mpi {
namespace {

/// Nobody else moves pending calls on while this rank makes a persistent one with others.
void let_pending_go_on() {
  if (pending_calls() == 0) return;
  const Entered entered(process_worker(), std::try_to_lock);
  const PackingFor nobody(constants().self);
  if (entered) process_worker().progress.poll();
}

}  // namespace

Served PersistentCall::make(Worker& runner, Communicator& c, const Arguments& arguments,
                            FunctionRef<int(MPI_Request*)> native) {
  describe(c, arguments);
  tag_ = c.next_persistent_tag(let_pending_go_on);
  if (!tag_) return pass(function(), Passed::communicator);
  const Served code = prepare_all(runner, c, native);
  if (code != MPI_SUCCESS) c.return_persistent_tag(*std::exchange(tag_, std::nullopt));
  return code;
}

Served PersistentCall::prepare_all(Worker& runner, Communicator& c, FunctionRef<int(MPI_Request*)> native) {
  if (c.learner && c.learner->learns_by_starts(function()) && make_with_turns(native)) return MPI_SUCCESS;
  const PackingFor program(c.comm());
  prepared_.emplace(c, arguments_, memory_);
  while (prepared_->next(runner.scratch())) {
    if (prepared_->is_collective()) {
      prepared_->hold_handles(held_);
      now_ = candidates_.emplace_back(std::make_unique<Candidate>()).get();
      bind(*now_, *prepared_);
      return MPI_SUCCESS;
    }
    const int code = runner.run(c, function(), prepared_->work(), nullptr);
    if (code != MPI_SUCCESS) return code;
  }
  return prepared_->end();
}

/// False, on all ranks alike: nothing has been made. A rank whose arguments are wrong does what the others wait for.
bool PersistentCall::make_with_turns(FunctionRef<int(MPI_Request*)> native) {
  constexpr learn::Moment nothing = -1;
  const PackingFor program(c_->comm());
  prepared_.emplace(*c_, arguments_, memory_);
  prepared_->take_turn(CountedAs::persistent);
  prepared_->servable();
  turns_ = c_->learner->made();
  Bootstrap all(c_->comm(), mpi_name(function()) + "_init");
  all.meanwhile(let_pending_go_on);
  const learn::Moment offered = all.minimum(turns_ ? turns_->offer() : nothing);
  native_request_ = constants().request_null;
  if (offered != nothing) {
    const ErrorsReturned quiet(c_->comm());
    if (native(&native_request_) != MPI_SUCCESS) all.fail();
    if (all.agreed() && turns_) {
      prepared_->hold_handles(held_);
      turns_->open(offered);
      candidates_.resize(turns_->candidates());
      prepare(turns_->current());
      return true;
    }
    if (native_request_ != constants().request_null) mpi::native().Request_free(&native_request_);
  }
  turns_.reset();
  prepared_.reset();
  memory_.trim();
  return false;
}

void PersistentCall::bind(Candidate& candidate, PreparedCall& call) {
  candidate.call = &call;
  candidate.algorithm = call.decision().algorithm;
  candidate.work = call.work();
  complete_work(*c_, function(), call.decision(), candidate.work);
  candidate.has_plan = segments_of(candidate.work) == 1;
  if (candidate.has_plan) {
    candidate.plan.resolve(candidate.work, 0);
    candidate.plan.find_fast_path(candidate.work);
  }
  candidate.is_plain = call.is_plain();
}

/// The next start is that candidate's. Sizes are known and arguments were looked at: the first stage is the collective.
void PersistentCall::prepare(std::size_t candidate) {
  if (candidate >= candidates_.size()) candidates_.resize(turns_->candidates());
  auto& slot = candidates_[candidate];
  if (!slot) {
    slot = std::make_unique<Candidate>();
    const Decision& decision = turns_->decision(candidate);
    if (decision.algorithm) {
      const PackingFor program(c_->comm());
      slot->own.emplace(*c_, arguments_, slot->memory);
      slot->own->take(decision);
      if (slot->own->next(nullptr)) bind(*slot, *slot->own);
    }
  }
  now_ = slot.get();
}

void PersistentCall::retire() {
  for (const auto& one : candidates_) {
    if (!one || one->starts == 0) continue;
    Counter& counter =
        one->algorithm ? statistics().of(function(), *one->algorithm) : statistics().of(function(), Passed::rules);
    counter.fetch_add(std::exchange(one->starts, 0), std::memory_order_relaxed);
  }
  if (turns_ && !native_active_ && native_request_ != constants().request_null) native().Request_free(&native_request_);
  turns_.reset();
}

void PersistentCall::observe_choice() {
  now_->algorithm ? times.served(*now_->algorithm) : times.passed(Passed::rules);
}

void PersistentCall::start() {
  if (turns_ && !turns_->goes_on()) [[unlikely]]
    return start_turn();
  if (times) [[unlikely]]
    begin();
  post_now();
}

/// Another candidate than in the last start, or ranks have something to tell each other behind this one.
[[gnu::noinline]] void PersistentCall::start_turn() {
  const auto entered = execute::now();
  prepare(turns_->next());
  to_tell_ = turns_->tells();
  if (times) observe_choice();
  begin();
  begun_ = pending_calls() == 1 ? calls_begun() : 0;
  watch_ = {.posted = execute::now()};
  turns_->add_beside(watch_.posted - entered);
  post_now();
  watch_.returned = execute::now();
}

/// What is complete at once is not even begun.
void PersistentCall::post_now() {
  Candidate& one = *now_;
  ++one.starts;
  if (!one.call) return start_natively();
  ++c_->calls;
  set_last_algorithm(one.algorithm->id.data());
  const execute::Plan* const ready = one.has_plan ? &one.plan : nullptr;
  if (one.is_plain) {
    post(one.work, *tag_, ready);
  } else {
    const PackingFor program(c_->comm());
    one.call->pack_again();
    post(one.work, *tag_, ready);
    one.call->note_packing();
  }
  if (operation_) {
    if (done()) begin();
    if (!operation_->active()) ended(*operation_);
  } else if (done()) {
    end_at_once(unpacked());
  } else {
    over(unpacked());
  }
}

void PersistentCall::start_natively() {
  set_last_algorithm("native");
  if (done()) begin();
  const int code = native().Start(&native_request_);
  native_active_ = code == MPI_SUCCESS;
  if (native_active_) return;
  reported_ = true;
  over(code);
}

void PersistentCall::poll() {
  if (!native_active_) return;
  int complete = 0;
  const int code = native().Test(&native_request_, &complete, MPI_STATUS_IGNORE);
  if (!complete && code == MPI_SUCCESS) return;
  native_active_ = false;
  reported_ = code != MPI_SUCCESS;
  over(code);
}

void PersistentCall::give_up() {
  native_active_ = false;
  PendingCall::give_up();
}

/// After the messages: MPI's error code.
int PersistentCall::unpacked() {
  if (now_->is_plain) return MPI_SUCCESS;
  const PackingFor program(c_->comm());
  const Served code = now_->call->end();
  reported_ = now_->call->reported();
  return *code;
}

void PersistentCall::ended(execute::Operation& operation) {
  const bool told = telling_ != nullptr;
  const bool failed = operation.outcome() != transport::Outcome::ok;
  if (!failed && !told) return over(unpacked());
  release();
  telling_.reset();
  if (failed) return finish(process_worker().failure(*c_));
  turns_->told(told_, telling_since_);
  finish(code_so_far_);
}

/// The collective is. Then what ranks have to tell each other, whatever came of the call.
void PersistentCall::over(int code) {
  if (turns_ && turns_->timed()) watch_.ended = execute::now();
  if (to_tell_.empty()) return finish(code);
  release();
  code_so_far_ = code;
  telling_numbers_ = std::exchange(to_tell_, {});
  told_.assign(telling_numbers_.size(), 0);
  telling_ = c_->schedule(*find_algorithm(combines_sizes), {c_->ranks(), 0}, {});
  telling_since_ = execute::now();
  post(PreparedCall::smallest(*telling_, telling_numbers_, told_.data()), *tag_, nullptr);
  if (!operation_->active()) ended(*operation_);
}

/// Where others were under way with it, nobody knows how long it would have taken.
void PersistentCall::tell_time() {
  if (turns_ && turns_->timed() && begun_ != 0 && begun_ == calls_begun()) turns_->tell(learn::span_of(watch_));
}

const Schedule* PersistentCall::schedule() const {
  if (telling_) return telling_.get();
  return now_->call ? now_->call->schedule().get() : nullptr;
}

}  // namespace stretto::mpi

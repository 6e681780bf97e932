// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/nonblocking_call.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "mpi/types.hpp"
#include "prepare/background.hpp"

namespace stretto::mpi {
namespace {

// Stages that a call of unknown sizes may have before the collective. Their number is found out while it is under way,
// so that tags are kept for all: the next call must not wait for that.
constexpr std::uint32_t most_stages_before = 3;

/// Is it chosen behind those that are undecided? It may go by what they find out; or they may yet become the native
/// library's, which must get all calls in one order.
bool follows_undecided(Communicator& c, Function function) {
  return !c.undecided.empty() && (!c.bytes_known(function) || may_end_natively(c));
}

/// May a kept plan serve it? A rank that has none must not choose the native function meanwhile.
bool kept_plan_may_serve(const Communicator& c, Function function) {
  return facts(function).bytes_known || may_end_natively(c) || !c.native_by_bytes(function);
}

/// The oldest nonblocking call that is not complete.
[[gnu::noinline]] PendingCall* look_for_oldest(Communicator& c) {
  const auto found =
      std::ranges::find_if(c.pending, [](const PendingCall* one) { return !one->persists() && !one->done(); });
  return found == c.pending.end() ? nullptr : *found;
}

/// A call under way on `c` for whose messages some with `tag` could be taken; null: there is none. Nothing limits how
/// many are pending, but tags come again. As all ranks begin calls in one order, each rank may wait for its own call to
/// end: what peers send for it they have sent before they send for a later one.
PendingCall* with_tag_of(Communicator& c, std::uint32_t tag) {
  if (tag - c.oldest_tag < c.tags_apart()) [[likely]]
    return nullptr;
  PendingCall* const oldest = look_for_oldest(c);
  c.oldest_tag = oldest ? oldest->first_tag() : tag;
  return tag - c.oldest_tag < c.tags_apart() ? nullptr : oldest;
}

}  // namespace

bool NonblockingCall::start(Communicator& c, const Arguments& arguments, const NativeStart& native) {
  c_ = &c;
  turn_ = {};
  first_tag_ = c.tags_given() + 1;
  tag_ = c.next_tag((facts(arguments.signature.function).bytes_known ? 0 : most_stages_before) + (c.learner ? 1 : 0));
  stages_ = 0;
  native_request_ = constants().request_null;
  queued_ = follows_undecided(c, arguments.signature.function) || with_tag_of(c, first_tag_);
  return (!queued_ && start_kept(arguments)) || start_new(c, arguments, native);
}

/// Not one whose plan is kept, or others must decide before.
[[gnu::noinline]] bool NonblockingCall::start_new(Communicator& c, const Arguments& arguments,
                                                  const NativeStart& native) {
  describe(c, arguments);
  begin_pending();
  prepares_ = true;
  watch_ = {};
  begun_ = pending_calls() == 1 ? calls_begun() : 0;
  if (queued_ ? !may_wait() : !begin_stages()) {
    if (timed()) {  // its end is to be seen
      native_ = native;
      return start_natively();
    }
    prepares_ = false;
    std::erase(c.pending, this);
    leave();
    return false;
  }
  if (!queued_) {
    if (!prepared_) return true;
    if (prepared_->is_collective()) {
      prepared_->hold_handles(held_);
      return true;
    }
  }
  hold_arguments();
  native_ = native;
  undecided_ = true;
  c.undecided.push_back(this);
  return true;
}

/// The program may free its handles before it is known who needs them, Stretto or the native library. What a rank need
/// not give may be anything, whose freeing would then wait for the end of this call.
void NonblockingCall::hold_arguments() {
  const auto hold = [this](MPI_Datatype type) {
    if (type != constants().type_null) held_.hold_type(type);
  };
  for (std::size_t side = 0; side < 2; ++side) {
    if (arguments_.parts[side] && arguments_.parts[side]->types)
      std::ranges::for_each(arrays_.types(side), hold);
    else
      hold(arguments_.signature.types[side]);
  }
  if (facts(facts(function()).collective).reduces) held_.hold_op(arguments_.signature.op);
}

/// Others may wait for it from now on.
void NonblockingCall::begin_pending() {
  begin();
  c_->pending.push_back(this);
}

/// The same call as one whose plan is kept. What is complete at once is not even begun.
[[gnu::always_inline]] inline bool NonblockingCall::start_kept(const Arguments& arguments) {
  if (!kept_plan_may_serve(*c_, arguments.signature.function)) [[unlikely]]
    return false;
  const auto* const found = c_->plans.find(arguments, CountedAs::nonblocking);
  if (!found || !(*found)->algorithm) return false;
  PlanCache::Cached& kept = **found;
  kept.count_down(CountedAs::nonblocking);
  arguments_.signature.function = arguments.signature.function;  // nothing else of them is asked for
  if (!c_->records) {
    count_again(*c_, kept);
  } else {  // which would be one of the blocking calls that are sampled
    if (done()) begin_pending();
    times.served(*kept.algorithm);
    count_served(*c_, *kept.served, *kept.algorithm);
  }
  post(kept.work, next_tag(), &kept.plan);
  if (operation_) {
    kept_ = *found;
    if (done()) begin_pending();
    if (!operation_->active()) ended(*operation_);
  } else if (done()) {
    end_at_once(MPI_SUCCESS);
    c_ = nullptr;
  } else {
    finish(MPI_SUCCESS);
  }
  return true;
}

/// What ranks tell each other of times or sizes may lead to the native function, which somebody must then start. False:
/// see step().
bool NonblockingCall::begin_stages() {
  prepared_.emplace(*c_, arguments_, memory_);
  if (may_end_natively(*c_))
    prepared_->take_turn(CountedAs::nonblocking);
  else
    prepared_->native_at_once();
  return step();
}

/// May it be chosen later? False: the caller is to leave it to the native library, which nobody could call then.
bool NonblockingCall::may_wait() {
  if (may_end_natively(*c_)) return true;
  const PackingFor program(c_->comm());
  prepared_.emplace(*c_, arguments_, memory_);
  prepared_->native_at_once();
  const bool may = prepared_->servable();
  if (!may) prepared_->end();
  prepared_.reset();
  memory_.trim();
  return may;
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
    if (collective) {
      times.served(*prepared_->decision().algorithm);
      kept_ = count_and_keep(*c_, *prepared_, work, false);
    }
    if (timed()) watch_.posted = execute::now();
    post(kept_ ? kept_->work : work, next_tag(), kept_ ? &kept_->plan : nullptr);
    if (timed()) watch_.returned = execute::now();
    prepared_->note_packing();
    if (collective) decide();
    if (!operation_) continue;
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
  const int begun = native_(&native_request_, arrays_);
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
  if (is_first) start_next(*c_);
}

/// Each that can decide at once lets the next one start: here, for there may be more than a stack holds.
void NonblockingCall::start_next(Communicator& c) {
  if (c.starts_queued) return;
  struct Starting {  // ends by the exception of an error handler, too
    explicit Starting(bool& is) : is_(is) { is_ = true; }
    ~Starting() { is_ = false; }
    bool& is_;
  } starting(c.starts_queued);
  auto& calls = c.undecided;
  while (!calls.empty() && calls.front()->queued_ && !with_tag_of(c, calls.front()->first_tag_))
    calls.front()->start_queued();
}

void NonblockingCall::start_queued() {
  queued_ = false;
  if (start_kept(arguments_)) return decide();
  begin_stages();
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
  Communicator& c = *c_;
  release();
  kept_.reset();
  if (timed()) watch_.ended = execute::now();
  if (std::exchange(prepares_, false)) {
    prepared_.reset();
    memory_.trim();
    native_ = {};
    held_.release();
    decide();
  }
  if (code == MPI_SUCCESS && !times && !timed()) {  // it needs its communicator no more, which may be freed meanwhile
    if (c_->pending.back() == this)
      c_->pending.pop_back();
    else
      std::erase(c_->pending, this);
    c_ = nullptr;
  }
  if (c.undecided.empty() || !may_call_the_mpi()) [[likely]]
    return PendingCall::finish(code);
  // The next one may have waited for this one's tag. Nobody frees the communicator before this call is done or, where
  // it is needed after that, before whoever moves calls on has left.
  if (c_) {
    PendingCall::finish(code);
    return start_next(c);
  }
  struct Done {
    NonblockingCall& call;
    int code;
    ~Done() { call.PendingCall::finish(code); }
  } done{*this, code};
  start_next(c);
}

/// Where others were under way with it, nobody knows how long it would have taken.
void NonblockingCall::tell_time() {
  if (timed() && begun_ != 0 && begun_ == calls_begun()) turn_.tell(learn::span_of(watch_));
  turn_ = {};
}

void NonblockingCall::poll() {
  if (done()) return;
  if (queued_) {
    PendingCall* const older = with_tag_of(*c_, first_tag_);
    return older ? older->poll() : start_next(*c_);
  }
  if (native_request_ == constants().request_null) return;
  int complete = 0;
  const int code = native().Test(&native_request_, &complete, MPI_STATUS_IGNORE);
  if (!complete && code == MPI_SUCCESS) return;
  native_request_ = constants().request_null;
  reported_ = true;
  finish(code);
}

std::string NonblockingCall::called() const { return "MPI_I" + std::string(facts(function()).name); }

void NonblockingCall::give_up() {
  native_request_ = constants().request_null;
  finish(process_worker().failure(*c_));
}

const Schedule* NonblockingCall::schedule() const {
  if (kept_) return kept_->schedule.get();
  return prepared_ ? prepared_->schedule().get() : nullptr;
}

// In turns with other threads that want the worker: what this one waits for may depend on what they start.
void await_decisions(Communicator& c) {
  SharedWait shared_wait;
  for (bool again = false;; again = true) {
    if (again) sched_yield();
    const Entered entered(process_worker());
    const bool all_decided = c.undecided.empty();
    if (PendingCall* const older =
            with_tag_of(c, all_decided ? c.tags_given() + 1 : c.undecided.front()->first_tag())) {
      older->wait_inside(shared_wait, [] { return false; }, true);
      continue;
    }
    if (all_decided) return;
    NonblockingCall& first = *c.undecided.front();
    shared_wait.is_for(first);
    const auto decided = [&] {
      first.poll();
      return c.undecided.empty() || c.undecided.front() != &first;
    };
    first.after_wait(process_worker().wait(shared_wait, decided, c, true));
  }
}

}  // namespace stretto::mpi

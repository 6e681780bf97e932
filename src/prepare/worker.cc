// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/worker.hpp"

#include <sched.h>

#include <cstdio>
#include <thread>
#include <utility>

#include "mpi/flavour/flavour.hpp"
#include "mpi/progress.hpp"
#include "mpi/queries.hpp"
#include "mpi/threads.hpp"
#include "prepare/background.hpp"
#include "prepare/pending_call.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

using transport::Outcome;

struct Release {
  ~Release() {
    delete detail::own_worker;
    detail::own_worker = nullptr;
  }
};

}  // namespace

/// A stage of a blocking call under MPI_THREAD_MULTIPLE whose communicator has pending calls too: they share its
/// messages, so that the stage is posted beside them, and moved on by whoever moves those on. All functions are called
/// inside Entered(process_worker()); it must have forgotten its operation before it is destroyed.
class BlockingStage final : public PendingCall {
 public:
  void start(Communicator& c, Function function, const execute::Work& work, const execute::Plan* ready) {
    forget();
    c_ = &c;
    arguments_.signature.function = function;
    schedule_ = work.schedule;
    reset();
    post(work, c.next_tag(), ready);
    if (!operation_)
      settle(MPI_SUCCESS);
    else if (!operation_->active())
      ended(*operation_);
  }
  void ended(execute::Operation& operation) override {
    settle(operation.outcome() == transport::Outcome::ok ? MPI_SUCCESS : process_worker().failure(*c_));
  }
  /// Nobody may move the operation on when the call has returned: what it refers to is gone then.
  void give_up() override {
    const int code = process_worker().failure(*c_);
    forget();
    settle(code);
  }
  /// Its operation is given up, or has ended and nobody asks for scratch() any more.
  void forget() { release(); }
  /// See Operation::scratch(). After the end, until forget() or the next start().
  const std::byte* scratch() const { return operation_ ? operation_->scratch() : nullptr; }

 private:
  const Schedule* schedule() const override { return schedule_; }
  const Schedule* schedule_ = nullptr;
};

constinit std::atomic<int> detail::pending_calls{0};
constinit thread_local const char detail::this_thread = 0;
constinit thread_local Worker* detail::own_worker = nullptr;

// A program may call MPI from the destructor of a global object, when this thread's own objects are gone already: then
// it gets a new worker, which nobody frees.
Worker& detail::new_worker() {
  static thread_local Release at_end_of_thread;
  return *(own_worker = new Worker);
}

/// Seldom: whoever uses it is asked to let go.
void Worker::lock() {
  wanted_.fetch_add(1, std::memory_order_relaxed);
  while (!try_lock()) sched_yield();
  wanted_.fetch_sub(1, std::memory_order_relaxed);
}

// Never destroyed, like all that a program may use at its very end.
Worker& process_worker() {
  static Worker& only = []() -> Worker& {
    auto& made = *new Worker;
    made.shared = threads_at_once() || polls_in_a_thread();
    made.of_process_ = true;
    return made;
  }();
  return only;
}

Worker::~Worker() {
  if (staging_rings_) own_process()->return_staging_rings(*staging_rings_);
  while (const auto rings = drained_rings()) own_process()->return_staging_rings(*rings);
}

/// Now and then in a long wait. False: its end will not come.
bool Worker::attend(void* worker) {
  Worker& w = *static_cast<Worker*>(worker);
  Communicator& c = *w.awaited_;
  if (!w.attend_to(c)) return false;
  w.look_for_standstill(c.serial() << 32 | c.tags_given(), true,
                        [&] { return mpi_name(w.runs_) + " (call " + std::to_string(c.calls) + ')'; });
  return true;
}

bool Worker::attend_pending(void* worker) {
  Worker& w = *static_cast<Worker*>(worker);
  if (!w.attend_to(*w.awaited_)) return false;
  w.look_for_standstill(w.pending_waits_, w.pending_alone_, [&] { return w.pending_->called(); });
  return true;
}

bool Worker::attend_to(Communicator& c) {
  using namespace std::chrono;
  constexpr milliseconds between{10};  // questions to the MPI about faults
  constexpr seconds grace{5};          // for the launcher, which most often ends a job with a process that failed
  drive_progress();
  const auto now = steady_clock::now();
  FaultWatch& watch = of_process_ ? c.watched_by_process : c.watched_by_thread;
  if (now < watch.next_look) return true;
  watch.next_look = now + between;
  if (c.survives_faults()) fault_ = flavour::fault_of(c.comm());
  if (fault_ != MPI_SUCCESS) return false;
  if (!c.node() || now < watch.look_for_dead) return true;
  const bool first = watch.look_for_dead == steady_clock::time_point{};
  watch.look_for_dead = now + grace / 5;
  if (first) return true;  // most often in set-up, where all wait; a look takes calls of the system for each rank
  if (!someone_died(*c.node())) {
    watch.died = {};
  } else if (watch.died == steady_clock::time_point{}) {
    watch.died = now;
  } else if (now - watch.died > grace) {
    fault_ = flavour::process_failed();
  }
  return fault_ == MPI_SUCCESS;
}

/// In wait number `wait`, for `call`, which alone ends it if it is `certain`: where threads call MPI, another one may
/// start what this one waits for.
void Worker::look_for_standstill(std::uint64_t wait, bool certain, FunctionRef<std::string()> call) {
  if (settings().deadline) return;
  const Communicator& c = *awaited_;
  std::uint64_t moves = progress.moves();
  if (!of_process_) {  // this wait may be for what moves by the other worker
    const Entered entered(process_worker(), std::try_to_lock);
    if (!entered) return;
    moves += process_worker().progress.moves();
  }
  certain &= !threads_at_once();
  const auto found = standstill_.look(c, wait, moves, certain, execute::now());
  if (found == Standstill::Found::nothing) return;
  const bool sure = found == Standstill::Found::sure;
  const std::string name = communicator_name(c.comm());
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g s", settings().standstill * (sure ? 1 : Standstill::doubtful));
  say("rank " + std::to_string(c.rank()) + " of " + std::to_string(c.ranks()) + " has waited for " + seconds + " in " +
          call() + " on " + (name.empty() ? "a communicator without a name" : name) +
          (sure ? ", and so have all that it waits for" : ""),
      std::string(sure ? "do all ranks call in the same order?" : "is another rank busy for so long? If not,") +
          " STRETTO_DEADLINE=60 ends such a job, and says what each rank waits for");
}

/// Of those that a failed call has left, if all has been read there since.
std::optional<transport::shm::StagingRings> Worker::drained_rings() {
  const auto drained = [](const transport::shm::StagingRings& rings) {
    return std::ranges::all_of(rings, &transport::shm::StagingRing::drained);
  };
  const auto found = std::ranges::find_if(left_rings_, drained);
  if (found == left_rings_.end()) return std::nullopt;
  const transport::shm::StagingRings rings = *found;
  left_rings_.erase(found);
  return rings;
}

/// Operations of nonblocking calls go by it while others use the worker: each communicator has its own for them.
transport::shm::Neighbours& Worker::neighbours_of(Communicator& c, const NodeView& view) {
  if (!staging_rings_) [[unlikely]] {
    staging_rings_ = drained_rings();
    if (!staging_rings_) staging_rings_ = take_staging_rings();
    ++rings_taken_;
    reaches_ = 0;
  }
  if (of_process_) {
    if (c.neighbours_rings != rings_taken_) [[unlikely]] {
      c.neighbours = neighbours(view, *staging_rings_, static_cast<std::uint32_t>(c.serial()));
      c.neighbours_rings = rings_taken_;
    }
    c.neighbours->policy = wait_policy();
    return *c.neighbours;
  }
  if (reaches_ != c.serial()) [[unlikely]] {
    node_ = neighbours(view, *staging_rings_, static_cast<std::uint32_t>(c.serial()));
    reaches_ = c.serial();
  }
  node_.policy = wait_policy();
  return node_;
}

execute::Paths Worker::paths_of(Communicator& c, transport::Tag tag) {
  const NodeView* view = c.node();
  execute::Paths paths(c.messages(), view ? &neighbours_of(c, *view) : nullptr);
  paths.tag = tag;
  paths.attend = attend;
  paths.context = this;
  return paths;
}

int Worker::failure(Communicator& c) {
  int fault = std::exchange(fault_, MPI_SUCCESS);
  if (fault == MPI_SUCCESS && c.survives_faults())
    fault = flavour::fault_of(c.comm());  // one of several calls has had it
  int code = fault;
  if (code == MPI_SUCCESS && c.messages()) code = c.messages()->take_error();
  // Somebody may never read what is staged for it: memory that it may still read is not used again. After the first
  // failure of a communicator nobody reads what its other calls stage.
  if (code != MPI_SUCCESS && !c.unusable && staging_rings_) left_rings_.push_back(*std::exchange(staging_rings_, {}));
  if (code == MPI_SUCCESS) code = MPI_ERR_TRUNCATE;
  // From now on the native library knows better what to say.
  if (fault != MPI_SUCCESS) {
    c.unusable = Passed::fault;
    c.careful = true;
  }
  return code;
}

int Worker::expired(const Communicator& c, const std::string& called, const Schedule& schedule,
                    const std::vector<execute::Stall>& stalls) {
  char call[128];
  std::snprintf(call, sizeof call, "%s (call %llu on this communicator, after %g s)", called.c_str(),
                static_cast<unsigned long long>(c.calls), *settings().deadline);
  say(execute::stall_report(schedule, stalls, call),
      "compare the reports of all ranks: the one that waits for nobody's message left early or never came");
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the others' deadlines are near: let them report as well
  native().Abort(c.comm(), 1);
  return MPI_ERR_OTHER;
}

/// Why no call on `c` will end; else MPI_SUCCESS.
int Worker::vain(Communicator& c) {
  if (c.careful && flavour::is_revoked(c.comm())) fault_ = flavour::fault_of(c.comm());
  return fault_;
}

int Worker::run(Communicator& c, Function function, const execute::Work& work, const execute::Plan* ready) {
  if (beside_) [[unlikely]]
    return run_beside_pending(c, function, work, ready);
  execute::Paths paths = paths_of(c, c.next_tag());
  awaited_ = &c;
  runs_ = function;
  paths.observer = c.records ? &observe::observer() : nullptr;
  if (c.careful) [[unlikely]]
    if (vain(c) != MPI_SUCCESS) return failure(c);
  switch (progress.run(work, paths, patience_, ready)) {
    case Outcome::ok: return MPI_SUCCESS;
    case Outcome::failed: return failure(c);
    case Outcome::expired: break;
  }
  return expired(c, mpi_name(function), *work.schedule, progress.stalls());
}

int Worker::run_beside_pending(Communicator& c, Function function, const execute::Work& work,
                               const execute::Plan* ready) {
  // No observer hears of its waits: it belongs to a thread, and any may move the stage on.
  if (!stage_) stage_ = std::make_unique<BlockingStage>();
  if (c.careful && vain(c) != MPI_SUCCESS) return failure(c);
  try {
    {
      const Entered entered(process_worker());
      stage_->start(c, function, work, ready);
    }
    await(*stage_);
  } catch (...) {  // of the program's error handler: what the stage refers to is about to go
    const Entered entered(process_worker());
    stage_->forget();
    throw;
  }
  return stage_->code();
}

const std::byte* Worker::scratch() const { return beside_ && stage_ ? stage_->scratch() : progress.scratch(); }

StagesBeside::StagesBeside(Worker& worker, Communicator& c) : worker_(worker) {
  const Entered entered(process_worker());
  worker_.beside_ = !c.pending.empty();
}

StagesBeside::~StagesBeside() {
  if (!std::exchange(worker_.beside_, false) || !worker_.stage_) return;
  const Entered entered(process_worker());
  worker_.stage_->forget();
}

Outcome Worker::wait(SharedWait& shared_wait, FunctionRef<bool()> done, Communicator& c, bool may_block) {
  execute::Paths paths = paths_of(c, {});
  paths.attend = attend_pending;
  awaited_ = &c;
  pending_ = shared_wait.call();
  pending_alone_ = may_block && !shared_wait.of_several();
  pending_waits_ += shared_wait.begins();
  if (vain(c) != MPI_SUCCESS) return Outcome::failed;
  const Deadline limit = patience_.renewed();
  if (!shared) return progress.wait(done, paths, may_block, limit);
  progress.poll();  // also where another thread wants the worker, so that the wait is over at once
  if (done()) return Outcome::ok;
  if (shared_wait.begin_turn(progress.moves(), limit)) {
    if (!paths.go_on()) return Outcome::failed;
    if (shared_wait.expired()) return Outcome::expired;
  }
  const auto enough = [&] { return done() || wanted(); };
  return progress.wait(enough, paths, may_block, limit);
}

}  // namespace stretto::mpi

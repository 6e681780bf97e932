// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/perform.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "communicator/raise.hpp"
#include "execute/progress.hpp"
#include "mpi/flavour/flavour.hpp"
#include "mpi/progress.hpp"
#include "prepare/prepared_call.hpp"
#include "settings/settings.hpp"
#include "support/memory.hpp"
#include "support/say.hpp"

namespace stretto::intercept {
namespace {

// Progress keeps its memory from call to call, and calls of several threads must not share it.
struct Worker {
  execute::Progress progress;
  execute::Arena call_buffers;
  std::optional<transport::shm::StagingRings> staging_rings;
  transport::shm::Neighbours node;
  std::uint64_t reaches = 0;  ///< serial() of the communicator that `node` is of

  struct Wait {
    const Communicator* communicator = nullptr;
    const Communicator* watched = nullptr;  ///< that `died` is of
    int fault = MPI_SUCCESS;                ///< why it is vain
    std::chrono::steady_clock::time_point next = {}, look_for_dead = {}, died = {};
  };
  Wait wait;

  ~Worker() {
    if (staging_rings) return_staging_rings(*staging_rings);
  }
};

[[gnu::tls_model("initial-exec")]] thread_local Worker* mine = nullptr;

struct Release {
  ~Release() {
    delete mine;
    mine = nullptr;
  }
};

// A program may call MPI from the destructor of a global object, when this thread's own objects are gone already: then
// it gets a new worker, which nobody frees.
Worker& new_worker() {
  static thread_local Release at_end_of_thread;
  return *(mine = new Worker);
}
Worker& worker() { return mine ? *mine : new_worker(); }

/// Now and then in a long wait of the call in this thread. False: its end will not come.
bool attend(void* context) {
  using namespace std::chrono;
  constexpr milliseconds between{10};  // questions to the MPI about faults
  constexpr seconds grace{5};          // for the launcher, which most often ends a job with a process that failed
  drive_progress();
  Worker& w = *static_cast<Worker*>(context);
  Worker::Wait& wait = w.wait;
  const auto now = steady_clock::now();
  if (now < wait.next) return true;
  wait.next = now + between;
  const Communicator& c = *wait.communicator;
  if (std::exchange(wait.watched, &c) != &c) wait.died = {};
  if (c.survives_faults()) wait.fault = flavour::fault_of(c.comm());
  if (wait.fault != MPI_SUCCESS) return false;
  if (!c.node() || now < wait.look_for_dead) return true;
  wait.look_for_dead = now + grace / 5;
  if (!someone_died(*c.node())) {
    wait.died = {};
  } else if (wait.died == steady_clock::time_point{}) {
    wait.died = now;
  } else if (now - wait.died > grace) {
    wait.fault = flavour::process_failed();
  }
  return wait.fault == MPI_SUCCESS;
}

/// Those of `c`, in this thread, for its next operation.
execute::Paths paths_of(Worker& w, Communicator& c) {
  const NodeView* view = c.node();
  if (view) {
    if (w.reaches != c.serial() || !w.staging_rings) [[unlikely]] {
      if (!w.staging_rings) w.staging_rings = take_staging_rings();
      w.node = neighbours(*view, *w.staging_rings);
      w.reaches = c.serial();
    }
    w.node.policy = wait_policy();
  }
  w.wait.communicator = &c;
  execute::Paths paths(c.messages(), view ? &w.node : nullptr);
  paths.tag = c.next_tag();
  paths.attend = attend;
  paths.context = &w;
  paths.observer = c.records ? &observe::observer() : nullptr;
  return paths;
}

int failed(Worker& w, Communicator& c, Function function) {
  const int fault = std::exchange(w.wait.fault, MPI_SUCCESS);
  int code = fault;
  if (code == MPI_SUCCESS && c.messages()) code = c.messages()->take_error();
  // Somebody may never read what is staged for it: memory that it may still read is not used again.
  if (code != MPI_SUCCESS) w.staging_rings.reset();
  if (code == MPI_SUCCESS) code = MPI_ERR_TRUNCATE;
  // From now on the native library knows better what to say.
  if (fault != MPI_SUCCESS || (c.survives_faults() && flavour::fault_of(c.comm()) != MPI_SUCCESS)) {
    c.unusable = Passed::fault;
    c.careful = true;
  }
  return raise(c, function, code);
}

int expired(const Worker& w, const Communicator& c, Function function, const Schedule& schedule) {
  char call[128];
  std::snprintf(call, sizeof call, "%s (call %llu on this communicator, after %g s)", mpi_name(function).c_str(),
                static_cast<unsigned long long>(c.calls), *settings().deadline);
  say(execute::stall_report(schedule, w.progress.stalls(), call),
      "compare the reports of all ranks: the one that waits for nobody's message left early or never came");
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the others' deadlines are near: let them report as well
  native().Abort(c.comm(), 1);
  return MPI_ERR_OTHER;
}

int run(Communicator& c, Function function, const execute::Work& work, const execute::Plan* ready) {
  Worker& w = worker();
  const execute::Paths paths = paths_of(w, c);
  if (c.careful) [[unlikely]] {
    w.wait.fault = flavour::is_revoked(c.comm()) ? flavour::fault_of(c.comm()) : MPI_SUCCESS;
    if (w.wait.fault != MPI_SUCCESS) return failed(w, c, function);
  }
  const auto& seconds = settings().deadline;
  const Deadline deadline = seconds ? Deadline::in(std::chrono::duration<double>(*seconds)) : Deadline();
  switch (w.progress.run(work, paths, deadline, ready)) {
    case transport::Outcome::ok: return MPI_SUCCESS;
    case transport::Outcome::failed: return failed(w, c, function);
    case transport::Outcome::expired: break;
  }
  return expired(w, c, function, *work.schedule);
}

/// Are the program's buffers, of all ranks of the node, larger than the cache? Each rank may decide for itself.
bool bypass_cache(const Communicator& c, const execute::Work& work) {
  static const Bytes cache = last_level_cache();
  Count elements = 0;
  for (const execute::Region* r : {&work.input, &work.output})
    if (r->at) elements += r->layout.elements(c.ranks());
  return elements * work.element.extent * c.ranks() > cache;
}

/// Where all messages go through the MPI, a call that waits long does not tell so by itself: each is looked at.
bool look_always(const Communicator& c) { return c.ranks() > 1 && !c.node(); }

observe::Sampled sampled(const Communicator& c, Function function, const Algorithm& algorithm) {
  if (!c.records) return {};
  const Bytes bytes = observe::bytes_of_call();
  observe::Record& record = c.records->of({function, observe::size_class(bytes), &algorithm, Passed{}});
  return {record, c.records->world_ranks(), function, bytes, algorithm, look_always(c)};
}

/// The collective itself: counted, and its plan kept if that may be.
int run_collective(Communicator& c, Function function, const PreparedCall& call) {
  const Decision& decision = call.decision();
  decision.served->fetch_add(1, std::memory_order_relaxed);
  set_last_algorithm(decision.algorithm->id.data());
  ++c.calls;
  if (c.records) observe::served(*decision.algorithm, look_always(c));
  execute::Work work = call.work();
  work.depth = std::min(decision.params.depth, c.most_depth());
  work.bypass_cache = bypass_cache(c, work);
  const execute::Plan* kept = nullptr;
  if (call.keeps() && segments_of(work) == 1)
    kept = c.plans.keep(*call.keeps(), c.ranks(), decision, call.schedule(), work,
                        sampled(c, function, *decision.algorithm));
  return run(c, function, work, kept);
}

}  // namespace

Served perform(Communicator& c, const Arguments& arguments) {
  Worker& w = worker();
  w.call_buffers.trim();
  PreparedCall call(c, arguments, w.call_buffers);
  const Function function = arguments.signature.function;
  while (call.next(w.progress.scratch())) {
    const int code = call.is_collective() ? run_collective(c, function, call) : run(c, function, call.work(), nullptr);
    if (code != MPI_SUCCESS) return code;
  }
  return call.end();
}

Served run_cached(MPI_Comm comm, const Arguments& arguments) {
  Communicator* c = last_communicator(comm);
  PlanCache::Cached* cached = c ? c->plans.find(arguments) : nullptr;
  if (!cached || arguments.output == MPI_IN_PLACE) return std::nullopt;
  if (arguments.is_at(cached->alias) || (c->careful && c->unusable)) [[unlikely]]
    return std::nullopt;
  if (cached->size_hint) {
    if (cached->size_hint->due()) return std::nullopt;
    cached->size_hint->note(cached->bytes);
  }
  ++cached->calls;
  ++c->calls;
  set_last_algorithm(cached->algorithm->id.data());
  const Function function = arguments.signature.function;
  cached->work.input.at =
      cached->input ? static_cast<char*>(const_cast<void*>(arguments.input)) + *cached->input : nullptr;
  cached->work.output.at = cached->output ? static_cast<char*>(arguments.output) + *cached->output : nullptr;
  if (!cached->sampled) return run(*c, function, cached->work, &cached->plan);
  cached->sampled.begin(cached->calls);
  const int code = run(*c, function, cached->work, &cached->plan);
  cached->sampled.end(cached->calls);
  return code;
}

}  // namespace stretto::intercept

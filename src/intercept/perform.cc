// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/perform.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "intercept/say.hpp"
#include "intercept/settings.hpp"
#include "support/memory.hpp"
#include "transport/mpi/mpi.hpp"

namespace stretto::intercept {
namespace {

// The engine keeps its memory from call to call, and calls of several threads must not share it.
struct Worker {
  execute::Engine engine;
  transport::MpiTransport transport;
  execute::Arena staging;
  std::optional<transport::shm::Rooms> rooms;
  transport::shm::Neighbours node;

  ~Worker() {
    if (rooms) give_back(*rooms);
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

}  // namespace

execute::Arena& staging() { return worker().staging; }

const std::byte* prepared_scratch() { return worker().engine.scratch(); }

Count segment_of(const Decision& decision, Bytes element_size, Rank parts) {
  return decision.params.segment > 0 ? std::max<Count>(decision.params.segment / parts / element_size, 1) : 0;
}

namespace {

/// What the program has under way in the MPI goes on only while somebody calls it: a peer may wait for that before it
/// comes to the collective. Not on MPI_COMM_SELF, for which MPICH looks at nothing else.
void progress() {
  int any = 0;
  native().Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, constants().world, &any, MPI_STATUS_IGNORE);
}

/// Set when a neighbour's message had another size than awaited: what is left of it stands in ways that other
/// communicators use as well, so none of them can be trusted.
std::atomic<bool> out_of_step{false};

/// The ways of `c`, in this thread.
execute::Paths paths_of(Worker& w, const Communicator& c) {
  const NodeView* view = c.node();
  if (view) {
    if (!w.rooms) w.rooms = take_rooms();
    w.node = neighbours(*view, *w.rooms);
  }
  if (!c.one_node()) w.transport.use(c.messages());
  return {c.one_node() ? nullptr : &w.transport, view ? &w.node : nullptr, progress,
          c.records ? &observe::observer() : nullptr};
}

int failed(Worker& w, const Communicator& c) {
  const int sent = c.one_node() ? MPI_SUCCESS : w.transport.error_code();
  if (sent == MPI_SUCCESS) out_of_step = true;
  if (!c.one_node()) w.transport.use(c.messages());  // gives up what is posted into the program's buffers
  const int code = sent == MPI_SUCCESS ? MPI_ERR_TRUNCATE : sent;
  native().Comm_call_errhandler(c.comm(), code);
  return code;
}

int expired(const Worker& w, const Communicator& c, Function function, const Schedule& schedule) {
  char call[128];
  std::snprintf(call, sizeof call, "%s (call %llu on this communicator, after %g s)", facts(function).name.data(),
                static_cast<unsigned long long>(c.calls), *settings().deadline);
  say(execute::hang_report(schedule, w.engine.standstill(), call),
      "compare the reports of all ranks: the one that waits for nobody's message left early or never came");
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the others' deadlines are near: let them report as well
  native().Abort(c.comm(), 1);
  return MPI_ERR_OTHER;
}

int run(Communicator& c, Function function, const execute::Work& work, const execute::Program* ready) {
  Worker& w = worker();
  if (c.node() && out_of_step.load(std::memory_order_relaxed)) [[unlikely]]
    return failed(w, c);
  const auto& seconds = settings().deadline;
  const Deadline deadline = seconds ? Deadline::in(std::chrono::duration<double>(*seconds)) : Deadline();
  switch (w.engine.run(work, paths_of(w, c), deadline, ready)) {
    case transport::Outcome::ok: return MPI_SUCCESS;
    case transport::Outcome::failed: return failed(w, c);
    case transport::Outcome::expired: break;
  }
  return expired(w, c, function, *work.schedule);
}

/// Are the program's buffers, of all ranks of the node, larger than the cache? Each rank may decide for itself.
bool bypass_cache(const Communicator& c, const Job& job) {
  static const Bytes cache = last_level_cache();
  Count elements = 0;
  for (const execute::Region* r : {&job.input, &job.output})
    if (r->at) elements += r->layout.elements(c.ranks());
  return elements * job.element.extent * c.ranks() > cache;
}

execute::Work work_of(const Communicator& c, const Schedule& schedule, int depth, const Job& job) {
  return {.schedule = &schedule,
          .element = job.element,
          .combiner = job.combiner,
          .input = job.input,
          .output = job.output,
          .sizes = job.sizes,
          .sizes_by_slot = job.sizes_by_slot,
          .depth = std::min(depth, c.most_depth()),
          .bypass_cache = bypass_cache(c, job)};
}

/// Where all messages go through the MPI, a call that waits long does not tell so by itself: each is looked at.
bool look_always(const Communicator& c) { return c.ranks() > 1 && !c.node(); }

observe::Sampled sampled(const Communicator& c, Function function, const Algorithm& algorithm) {
  if (!c.records) return {};
  const Bytes bytes = observe::bytes_of_call();
  observe::Record& record = c.records->of({function, observe::size_class(bytes), &algorithm, Passed{}});
  return {record, c.records->world_ranks(), function, bytes, algorithm, look_always(c)};
}

}  // namespace

int perform(Communicator& c, const Decision& decision, const std::shared_ptr<const Schedule>& schedule,
            Function function, const Job& job) {
  decision.served->fetch_add(1, std::memory_order_relaxed);
  set_last_algorithm(decision.algorithm->id.data());
  ++c.calls;
  if (c.records) observe::served(*decision.algorithm, look_always(c));
  const execute::Work work = work_of(c, *schedule, decision.params.depth, job);
  if (job.origin && segments_of(work) == 1)
    c.replays.keep(*job.origin, c.ranks(), decision, schedule, work, sampled(c, function, *decision.algorithm));
  return run(c, function, work, nullptr);
}

int prepare(Communicator& c, const Schedule& schedule, Function function, const Job& job) {
  return run(c, function, work_of(c, schedule, 1, job), nullptr);
}

std::optional<int> replay(MPI_Comm comm, const Origin& origin) {
  Communicator* c = last_communicator(comm);
  Replays::Replay* r = c ? c->replays.find(origin) : nullptr;
  if (!r || origin.output == MPI_IN_PLACE) return std::nullopt;
  if (r->recent) {
    if (r->recent->due()) return std::nullopt;
    r->recent->note(r->bytes);
  }
  ++r->calls;
  ++c->calls;
  set_last_algorithm(r->algorithm->id.data());
  r->work.input.at = r->input ? static_cast<char*>(const_cast<void*>(origin.input)) + *r->input : nullptr;
  r->work.output.at = r->output ? static_cast<char*>(origin.output) + *r->output : nullptr;
  if (!r->sampled) return run(*c, origin.signature.function, r->work, &r->program);
  r->sampled.begin(r->calls);
  const int code = run(*c, origin.signature.function, r->work, &r->program);
  r->sampled.end(r->calls);
  return code;
}

}  // namespace stretto::intercept

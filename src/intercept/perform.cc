// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/perform.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "intercept/say.hpp"
#include "intercept/settings.hpp"
#include "transport/mpi/mpi.hpp"

namespace stretto::intercept {
namespace {

// The engine keeps its memory from call to call, and calls of several threads must not share it.
struct Worker {
  execute::Engine engine;
  transport::MpiTransport transport;
  execute::Arena staging;
  std::optional<transport::shm::Rooms> rooms;

  ~Worker() {
    if (rooms) give_back(*rooms);
  }
};

thread_local Worker* mine = nullptr;

struct Release {
  ~Release() {
    delete mine;
    mine = nullptr;
  }
};

// A program may call MPI from the destructor of a global object, when this thread's own objects are gone already: then
// it gets a new worker, which nobody frees.
Worker& worker() {
  static thread_local Release at_end_of_thread;
  if (!mine) mine = new Worker;
  return *mine;
}

}  // namespace

execute::Arena& staging() { return worker().staging; }

const std::byte* prepared_scratch() { return worker().engine.scratch(); }

Count segment_of(const Decision& decision, Bytes element_size, Rank parts) {
  return decision.params.segment > 0 ? std::max<Count>(decision.params.segment / parts / element_size, 1) : 0;
}

namespace {

int run(Communicator& c, const Schedule& schedule, Function function, int depth, const Job& job) {
  Worker& w = worker();
  const execute::Work work{.schedule = &schedule,
                           .element = job.element,
                           .combiner = job.combiner,
                           .input = job.input,
                           .output = job.output,
                           .sizes = job.sizes,
                           .sizes_by_slot = job.sizes_by_slot,
                           .depth = std::min(depth, c.most_depth())};
  std::optional<transport::shm::Neighbours> node;
  if (c.node()) {
    if (!w.rooms) w.rooms = take_rooms();
    node = neighbours(*c.node(), *w.rooms);
  }
  if (!c.one_node()) w.transport.use(c.messages());
  const auto& seconds = settings().deadline;
  const Deadline deadline = seconds ? Deadline::in(std::chrono::duration<double>(*seconds)) : Deadline();
  const execute::Paths paths(c.one_node() ? nullptr : &w.transport, node ? &*node : nullptr);
  switch (w.engine.run(work, paths, deadline)) {
    case transport::Outcome::ok: return MPI_SUCCESS;
    case transport::Outcome::failed: {
      const int sent = c.one_node() ? MPI_SUCCESS : w.transport.error_code();
      const int code = sent == MPI_SUCCESS ? MPI_ERR_TRUNCATE : sent;  // of another size than awaited
      native().Comm_call_errhandler(c.comm(), code);
      return code;
    }
    case transport::Outcome::expired: break;
  }
  char call[128];
  std::snprintf(call, sizeof call, "%s (call %llu on this communicator, after %g s)", facts(function).name.data(),
                static_cast<unsigned long long>(c.calls), *seconds);
  say(execute::hang_report(schedule, w.engine.standstill(), call),
      "compare the reports of all ranks: the one that waits for nobody's message left early or never came");
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the others' deadlines are near: let them report as well
  native().Abort(c.comm(), 1);
  return MPI_ERR_OTHER;
}

}  // namespace

int perform(Communicator& c, const Decision& decision, const Schedule& schedule, Function function, const Job& job) {
  decision.served->fetch_add(1, std::memory_order_relaxed);
  set_last_algorithm(decision.algorithm->id.data());
  ++c.calls;
  return run(c, schedule, function, decision.params.depth, job);
}

int prepare(Communicator& c, const Schedule& schedule, Function function, const Job& job) {
  return run(c, schedule, function, 1, job);
}

}  // namespace stretto::intercept

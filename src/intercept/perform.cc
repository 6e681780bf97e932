// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/perform.hpp"

#include <algorithm>

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

execute::Layout layout_of(const Decision& decision, Collective collective, const Buffers& buffers, Rank ranks) {
  const bool per_rank = facts(collective).per_rank;
  const Bytes bytes_of_segment = decision.params.segment / (per_rank ? ranks : 1);
  const Count segment = decision.params.segment > 0 ? std::max<Count>(bytes_of_segment / buffers.element.size, 1) : 0;
  return per_rank ? execute::Layout::per_rank(ranks, buffers.count, segment)
                  : execute::Layout::whole(buffers.count, decision.schedule->blocks, segment);
}

}  // namespace

execute::Arena& staging() { return worker().staging; }

int perform(Communicator& c, const Decision& decision, Collective collective, const Buffers& buffers) {
  Worker& w = worker();
  decision.served->fetch_add(1, std::memory_order_relaxed);
  set_last_algorithm(decision.algorithm->id.data());
  ++c.calls;
  const execute::Work work{.schedule = decision.schedule.get(),
                           .layout = layout_of(decision, collective, buffers, c.ranks()),
                           .element = buffers.element,
                           .combiner = buffers.combiner,
                           .input = buffers.input,
                           .output = buffers.output,
                           .input_origin = buffers.input_origin,
                           .output_origin = buffers.output_origin,
                           .depth = decision.params.depth};
  w.transport.use(c.messages());
  const auto& seconds = settings().deadline;
  const Deadline deadline = seconds ? Deadline::in(std::chrono::duration<double>(*seconds)) : Deadline();
  switch (w.engine.run(work, w.transport, deadline)) {
    case transport::Outcome::ok: return MPI_SUCCESS;
    case transport::Outcome::failed: {
      const int code = w.transport.error_code();
      native().Comm_call_errhandler(c.comm(), code);
      return code;
    }
    case transport::Outcome::expired: break;
  }
  say(execute::hang_report(*decision.schedule, w.engine.standstill(),
                           std::string(facts(collective).name) + " (call " + std::to_string(c.calls) +
                               " on this communicator, after " + std::to_string(*seconds) + " s)"),
      "compare the reports of all ranks: the one that waits for nobody's message left early or never came");
  native().Abort(c.comm(), 1);
  return MPI_ERR_OTHER;
}

}  // namespace stretto::intercept

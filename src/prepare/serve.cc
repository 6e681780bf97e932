// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/serve.hpp"

#include "communicator/learned.hpp"
#include "communicator/own_process.hpp"
#include "communicator/shared_heap.hpp"
#include "mpi/held_handles.hpp"
#include "mpi/progress.hpp"
#include "mpi/types.hpp"
#include "observe/write.hpp"
#include "prepare/background.hpp"
#include "prepare/observed.hpp"
#include "prepare/prepared_call.hpp"
#include "prepare/requests.hpp"
#include "settings/settings.hpp"

namespace stretto::mpi {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local PassedCall last_passed{};

/// The state of `comm`, or null after counting why the call is left native.
Communicator* usable(MPI_Comm comm, const Arguments& arguments) {
  const Function function = arguments.signature.function;
  if (settings().observes()) [[unlikely]] {
    const auto begin = execute::now();
    Communicator* c = communicator(comm, function);
    observe::begin_call(function, c ? c->records.get() : nullptr, c ? observed_bytes(*c, arguments) : 0, begin);
  }
  Communicator* const c = settings().disabled ? nullptr : communicator(comm, function);
  if (c && !c->unusable) return c;
  pass(function, settings().disabled ? Passed::disabled : c ? *c->unusable : Passed::not_ready);
  return nullptr;
}

}  // namespace

PassedCall passed_call() { return last_passed; }

Served pass(Function function, Passed reason) {
  last_passed = {function, reason};
  statistics().of(function, reason).fetch_add(1, std::memory_order_relaxed);
  set_last_algorithm("native");
  observe::passed(reason);
  return std::nullopt;
}

Served serve(MPI_Comm comm, const Arguments& arguments) {
  bool left = false;
  Communicator* c = recent_communicator(comm);
  const bool was_recent = c;
  if (c)
    if (const Served done = run_cached(*c, arguments, left)) return done;
  if (!left) {
    c = usable(comm, arguments);
    if (!c) return std::nullopt;
    if (!was_recent && !settings().observes())  // whose times have begun: perform() ends them
      if (const Served done = run_cached(*c, arguments, left)) return done;
  }
  if (left) {  // it is counted
    last_passed = {arguments.signature.function, Passed::rules};
    set_last_algorithm("native");
    return std::nullopt;
  }
  const PackingFor program(comm);
  const Served done = perform(*c, arguments);
  if (c->learner && done) c->learner->end_call();  // else after the native function
  return done;
}

void before_finalize() {
  const std::optional<bool> agreed = world_writes();
  end_background();
  free_handles_left();
  end_requests();
  free_communicators();  // they count their last calls then
  end_progress();
  depart();
  write_learned();
  observe::write_files(agreed);
  if (!settings().log_summary) return;
  int rank = 0;
  native().Comm_rank(constants().world, &rank);
  if (rank == 0) {
    print_summary();
    print_heap_summary();
  }
}

}  // namespace stretto::mpi

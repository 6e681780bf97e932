// SPDX-License-Identifier: BSD-3-Clause
//
// STRETTO_DEADLINE for calls that the native library does: it cannot be asked to give up, nor what it waits for.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "communicator/learner.hpp"
#include "intercept/entry.hpp"
#include "mpi/native.hpp"
#include "observe/statistics.hpp"
#include "prepare/serve.hpp"
#include "settings/settings.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace watchdog {
namespace {

using Clock = std::chrono::steady_clock;

struct Watched {
  Function function;
  Passed reason;
  MPI_Comm comm;
  int rank = 0;
  int ranks = 1;
  Clock::time_point expires;
};

/// Never destroyed: its thread lives as long as the program.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::list<Watched> calls;  // in the order begun, hence of their deadlines
  bool runs = false;
};
State& state() {
  static auto& one = *new State;
  return one;
}

/// The thread of the call is inside the MPI, which may hold what MPI_Abort needs: then a signal ends the process, and
/// the launcher the job.
void end_job(const Watched& call) {
  constexpr unsigned seconds_to_abort = 5;
  char text[256];
  std::snprintf(text, sizeof text, "rank %d of %d hangs in the native %s (reason: %s), after %g s", call.rank,
                call.ranks, mpi_name(call.function).c_str(), std::string(name_of(call.reason)).c_str(),
                *settings().deadline);
  say(text, "compare the reports of all ranks: one that reports nothing never came, or left early");
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the others' deadlines are near: let them report as well
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  signal(SIGALRM, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  alarm(seconds_to_abort);
  native().Abort(call.comm, 1);
  _exit(1);
}

void watch() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  for (;;) {
    if (s.calls.empty()) {
      s.changed.wait(lock);
      continue;
    }
    const Watched first = s.calls.front();
    if (Clock::now() >= first.expires) end_job(first);
    s.changed.wait_until(lock, first.expires);
  }
}

/// The program's signals are not for this thread.
void start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(watch).detach();
  } catch (const std::system_error& e) {
    say(std::string("STRETTO_DEADLINE: native calls have none (") + e.what() + ')',
        "a limit on processes leaves no thread");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// While the call lasts, which an exception of the program's error handler may end too.
class WatchedCall {
 public:
  WatchedCall(Function function, Passed reason, MPI_Comm comm) {
    const auto& seconds = settings().deadline;
    if (!seconds || reason == Passed::not_ready) return;
    Watched call{.function = function, .reason = reason, .comm = comm, .expires = {}};
    if (native().Comm_rank(comm, &call.rank) != MPI_SUCCESS || native().Comm_size(comm, &call.ranks) != MPI_SUCCESS)
      return;
    call.expires = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
    State& s = state();
    const std::lock_guard lock(s.mutex);
    entry_ = s.calls.insert(s.calls.end(), call);
    if (!std::exchange(s.runs, true)) start();
    s.changed.notify_one();
  }
  ~WatchedCall() {
    if (!entry_) return;
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.calls.erase(*entry_);
  }
  WatchedCall& operator=(WatchedCall&&) = delete;

 private:
  std::optional<std::list<Watched>::iterator> entry_;
};

}  // namespace
}  // namespace watchdog

int watched(MPI_Comm comm, FunctionRef<int()> pass) {
  const auto [function, reason] = passed_call();
  const watchdog::WatchedCall call(function, reason, comm);
  if (Learner* const learner = learner_of(comm)) [[unlikely]]
    learner->begin_work();
  const int code = pass();
  guarded([&] {
    if (Learner* const learner = learner_of(comm)) [[unlikely]] {
      learner->end_work();
      learner->end_call();
    }
  });
  return code;
}

}  // namespace stretto::mpi

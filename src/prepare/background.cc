// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/background.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "mpi/flavour/flavour.hpp"
#include "mpi/held_handles.hpp"
#include "mpi/threads.hpp"
#include "mpi/types.hpp"
#include "prepare/worker.hpp"
#include "settings/settings.hpp"
#include "support/say.hpp"

namespace stretto::mpi {
namespace {

using namespace std::chrono_literals;

/// Moves pending calls on, unless somebody is at it. False: there are none.
bool poll_all(const execute::Rights& rights) {
  if (pending_calls() == 0) return false;
  const Entered entered(process_worker(), std::try_to_lock);
  if (!entered.alone()) return true;
  const PackingFor nobody(constants().self);  // an error is not one of what is packed here next
  process_worker().progress.poll(rights);
  return true;
}

/// May a function that the MPI calls in its progress communicate by the MPI in turn?
bool calls_may_nest() {
  static const bool may = flavour::traits.calls_nest_beside_threads || !own_thread_may_call();
  return may;
}

bool poll_in_progress() { return poll_all({.mpi = calls_may_nest()}); }

/// Operators of a program that asked for no threads know of none.
bool poll_in_own_thread() {
  static const execute::Rights rights{.mpi = own_thread_may_call(), .operators = threads_at_once()};
  return poll_all(rights);
}

/// The thread, where there is one.
struct Poller {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> ends{false};
  std::thread thread;
};
Poller& poller() {
  static auto& only = *new Poller;
  return only;
}
std::atomic<bool> asleep{true};

/// How long the thread waits between two looks. The program looks as well, in its own waits: the thread is for what it
/// does else, and must not take the core that ranks compute on.
std::chrono::microseconds between_looks() { return settings().progress_thread ? 20us : 500us; }

/// Who asks for short turns gets a core soon, even where all cores compute (Linux since 6.12; elsewhere nothing
/// changes).
void ask_for_short_turns() {
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;  // ns
  } turns{};
  static_assert(sizeof turns == 48);  // the kernel's first version of its sched_attr
  constexpr std::uint64_t short_turn = 100'000;
  constexpr unsigned long exact_sleep = 1'000;  // ns
  prctl(PR_SET_TIMERSLACK, exact_sleep);
  if (syscall(SYS_sched_getattr, 0, &turns, sizeof turns, 0) != 0 || turns.policy != SCHED_OTHER) return;
  turns.runtime = short_turn;
  syscall(SYS_sched_setattr, 0, &turns, 0);
}

void poll_for_ever() {
  constexpr int looks_before_sleep = 200;
  ask_for_short_turns();
  if (!own_thread_may_call()) may_not_call_the_mpi();
  Poller& p = poller();
  for (int idle = 0;;) {
    idle = poll_in_own_thread() ? 0 : idle + 1;
    if (idle < looks_before_sleep) {
      std::this_thread::sleep_for(between_looks());
      if (!p.ends) continue;
    }
    std::unique_lock lock(p.mutex);
    if (p.ends) return;
    // A call that begins now sees that the thread sleeps, or is seen here.
    asleep.store(true, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (pending_calls() > 0) {
      asleep.store(false, std::memory_order_relaxed);
      idle = 0;
      continue;
    }
    p.changed.wait(lock, [&] { return p.ends || !asleep.load(std::memory_order_relaxed); });
    idle = 0;
  }
}

void wake_poller() {
  Poller& p = poller();
  const std::lock_guard lock(p.mutex);
  asleep.store(false, std::memory_order_relaxed);
  if (p.ends) return;
  if (p.thread.joinable()) return p.changed.notify_one();
  // Signals are the program's: its handlers may expect its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    p.thread = std::thread(poll_for_ever);
  } catch (const std::system_error& e) {
    say(std::string("nonblocking collectives go on only in calls to MPI: no thread could be made: ") + e.what(),
        "allow this user or container one more process for each rank");
    p.ends = true;  // as if it had ended: it is not tried again
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void background_begins() {
  static const bool in_progress = flavour::calls_in_progress();
  if (in_progress) flavour::call_in_progress(poll_in_progress);
  if (!polls_in_a_thread()) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // behind count_pending()
  if (asleep.load(std::memory_order_relaxed)) wake_poller();
}

void end_background() {
  if (flavour::calls_in_progress()) flavour::end_calls_in_progress();
  Poller& p = poller();
  {
    const std::lock_guard lock(p.mutex);
    if (!p.thread.joinable()) return;
    p.ends = true;
    p.changed.notify_one();
  }
  p.thread.join();
}

bool polls_in_a_thread() {
  static const bool needed = settings().progress_thread || !flavour::calls_in_progress() || !calls_may_nest();
  return needed;
}

execute::Rights needed_for(Communicator& c, bool own_operator, bool native_may_follow) {
  // Where nobody but a thread without rights moves calls on, it has to take those that the native library may follow on
  // as well.
  static const bool somebody_may = flavour::calls_in_progress() || own_thread_may_call();
  return {.mpi = c.messages() || (native_may_follow && somebody_may), .operators = own_operator};
}

bool may_end_natively(const Communicator& c) { return flavour::calls_in_progress() || c.own_thread(); }

bool progress_is_sure(Communicator& c, bool own_operator) {
  if (!flavour::calls_in_progress()) return (!c.messages() || c.own_thread()) && !own_operator;
  const bool thread_has_all = threads_at_once() && !settings().progress_thread;  // else some ranks may have less
  if (calls_may_nest() || thread_has_all) return true;
  return !c.messages() || !own_operator;  // the thread has the messages
}

}  // namespace stretto::mpi

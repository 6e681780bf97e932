// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/background.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "mpi/flavour/flavour.hpp"
#include "mpi/operators.hpp"
#include "prepare/worker.hpp"
#include "settings/settings.hpp"

namespace stretto::mpi {
namespace {

using namespace std::chrono_literals;

/// Moves pending calls on, unless somebody is at it. False: there are none.
bool poll_all(bool in_own_thread) {
  if (pending_calls() == 0) return false;
  const Entered entered(process_worker(), std::try_to_lock);
  if (entered.alone()) process_worker().progress.poll(in_own_thread);
  return true;
}

bool poll_in_the_programs_thread() { return poll_all(false); }

/// The thread, where there is one.
struct Poller {
  std::mutex mutex;
  std::condition_variable changed;
  bool running = false;
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

void poll_for_ever() {
  constexpr int looks_before_sleep = 200;
  Poller& p = poller();
  for (int idle = 0;;) {
    idle = poll_all(true) ? 0 : idle + 1;
    if (idle < looks_before_sleep) {
      std::this_thread::sleep_for(between_looks());
      if (!p.ends) continue;
    }
    std::unique_lock lock(p.mutex);
    if (p.ends) return;
    asleep.store(true, std::memory_order_seq_cst);
    p.changed.wait(lock, [&] { return p.ends || !asleep.load(std::memory_order_relaxed); });
    idle = 0;
  }
}

void wake_poller() {
  Poller& p = poller();
  const std::lock_guard lock(p.mutex);
  asleep.store(false, std::memory_order_relaxed);
  if (p.running) return p.changed.notify_one();
  p.running = true;
  // Signals are the program's: its handlers may expect its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  p.thread = std::thread(poll_for_ever);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void background_begins() {
  static const bool in_progress = flavour::calls_in_progress();
  if (in_progress) flavour::call_in_progress(poll_in_the_programs_thread);
  if (polls_in_a_thread() && asleep.load(std::memory_order_relaxed)) wake_poller();
}

void end_background() {
  if (flavour::calls_in_progress()) flavour::end_calls_in_progress();
  Poller& p = poller();
  {
    const std::lock_guard lock(p.mutex);
    if (!p.running) return;
    p.ends = true;
    p.changed.notify_one();
  }
  p.thread.join();
}

bool polls_in_a_thread() {
  static const bool needed = settings().progress_thread || !flavour::calls_in_progress();
  return needed;
}

bool progress_is_sure() { return flavour::calls_in_progress(); }

bool progress_is_sure(Communicator& c, const Signature& call) {
  if (progress_is_sure()) return true;
  return !c.messages() && (!facts(facts(call.function).collective).reduces || is_standard(call.op));
}

}  // namespace stretto::mpi

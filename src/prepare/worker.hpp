// SPDX-License-Identifier: BSD-3-Clause
//
// What carries out calls: progress, and memory that is kept from call to call.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "communicator/communicator.hpp"
#include "communicator/own_process.hpp"
#include "execute/progress.hpp"
#include "prepare/standstill.hpp"
#include "settings/settings.hpp"

namespace stretto::mpi {

class BlockingStage;
class SharedWait;

/// Each thread has one for its blocking calls, and the process one for those that are pending, which any thread may
/// move on.
class Worker {
 public:
  ~Worker();
  Worker& operator=(Worker&&) = delete;

  execute::Progress progress;
  execute::Arena call_buffers;  ///< of a blocking call

  /// How the next operation of `c` reaches its peers; as long as the worker is not asked for another communicator's.
  execute::Paths paths_of(Communicator& c, transport::Tag tag);
  /// Runs a stage of a blocking call. MPI's error code, not yet raised.
  int run(Communicator& c, Function function, const execute::Work& work, const execute::Plan* ready);
  /// See Operation::scratch(): of the last stage that run() has ended, until the next one.
  const std::byte* scratch() const;
  /// A turn of a wait for an operation of a nonblocking call on `c`: until `done`, or until another thread wants the
  /// worker; both are `ok`. `may_block`: nothing else ends the wait.
  transport::Outcome wait(SharedWait& shared_wait, FunctionRef<bool()> done, Communicator& c, bool may_block);
  /// In a look at a call on `c` that finds nothing new: what a long wait does now and then. False: its end will not
  /// come.
  bool attend_to(Communicator& c);
  /// After an operation on `c` that failed: why.
  int failure(Communicator& c);
  /// Says what the job hangs in, and ends it.
  int expired(const Communicator& c, const std::string& called, const Schedule& schedule,
              const std::vector<execute::Stall>& stalls);

  bool shared = false;  ///< with other threads: Entered locks
  /// Does another thread wait for Entered? It may have to start what this one's wait depends on.
  bool wanted() const { return wanted_.load(std::memory_order_relaxed) > 0; }

 private:
  friend class Entered;
  friend class StagesBeside;
  friend Worker& process_worker();
  static bool attend(void* worker);  // of `awaited_`, in a blocking call
  static bool attend_pending(void* worker);
  void look_for_standstill(std::uint64_t wait, bool certain, FunctionRef<std::string()> call);
  int vain(Communicator& c);
  transport::shm::Neighbours& neighbours_of(Communicator& c, const NodeView& view);
  std::optional<transport::shm::StagingRings> drained_rings();

  bool try_lock();
  void lock();
  void unlock() {
    if (--depth_ == 0) owner_.store(nullptr, std::memory_order_release);
  }

  const Deadline patience_ = Deadline::after(settings().deadline);  // must be renewed: its moment is in the past
  bool of_process_ = false;                                         // is it the one of all pending calls?

  // A lock of its own: it costs one atomic operation each time. Those who wait for it yield the core, for it is held
  // for long only by a wait, which ends when it is wanted.
  std::atomic<const void*> owner_{nullptr};  // of each thread another address
  std::atomic<int> wanted_{0};
  int depth_ = 0;  // of Entered: a poll from inside the MPI does nothing then
  std::optional<transport::shm::StagingRings> staging_rings_;
  std::vector<transport::shm::StagingRings> left_rings_;  ///< by failed calls: others may still read there
  std::uint64_t rings_taken_ = 0;                         // how often
  transport::shm::Neighbours node_;
  std::uint64_t reaches_ = 0;  // serial() of the communicator that `node_` is of

  int run_beside_pending(Communicator& c, Function function, const execute::Work& work, const execute::Plan* ready);
  bool beside_ = false;                   // do stages go on beside pending calls? StagesBeside sets it
  std::unique_ptr<BlockingStage> stage_;  // of those; null: there has been none

  // Of the wait that is under way:
  Communicator* awaited_ = nullptr;
  Function runs_{};
  const PendingCall* pending_ = nullptr;  // that it is for, with others or alone
  bool pending_alone_ = false;
  std::uint64_t pending_waits_ = 0;  // so far
  Standstill standstill_;
  int fault_ = MPI_SUCCESS;  // why it is vain
};

/// While it lives, a worker runs the stages of a blocking call on `c` beside what is pending there, under
/// MPI_THREAD_MULTIPLE. Waiting for that instead would be wrong: persistent calls need not be started in one order.
class StagesBeside {
 public:
  StagesBeside(Worker& worker, Communicator& c);
  ~StagesBeside();
  StagesBeside& operator=(StagesBeside&&) = delete;

 private:
  Worker& worker_;
};

/// The use of a worker beside nonblocking calls.
class Entered {
 public:
  explicit Entered(Worker& worker) : worker_(&worker) {
    if (!worker.shared)
      ++worker.depth_;
    else if (!worker.try_lock()) [[unlikely]]
      worker.lock();
  }
  /// Unless another thread uses it, or waits to.
  Entered(Worker& worker, std::try_to_lock_t) : worker_(&worker) {
    if (!worker.shared)
      ++worker.depth_;
    else if (worker.wanted() || !worker.try_lock())
      worker_ = nullptr;
  }
  ~Entered() {
    if (!worker_) return;
    if (worker_->shared)
      worker_->unlock();
    else
      --worker_->depth_;
  }
  Entered& operator=(Entered&&) = delete;

  explicit operator bool() const { return worker_ != nullptr; }
  /// Not where this thread uses the worker already.
  bool alone() const { return worker_ && worker_->depth_ == 1; }

 private:
  Worker* worker_;
};

/// A wait that shares the worker with those of other threads. Each has it in turns that end when another one wants it,
/// so that no single turn tells whether the wait is long.
class SharedWait {
 public:
  /// `of_several`: any of several calls may end it.
  explicit SharedWait(bool of_several = false) : of_several_(of_several) {}

  /// Whoever uses the worker moves this wait's messages on as well; in the long run it is asked to let go.
  Entered enter(Worker& worker) {
    constexpr unsigned patience = 64;
    return ++tries_ % patience == 0 ? Entered(worker) : Entered(worker, std::try_to_lock);
  }
  /// At the beginning of a turn, where Progress::moves() is `moves`. True: nothing has moved for a while.
  bool begin_turn(std::uint64_t moves, const Deadline& deadline) {
    constexpr std::chrono::milliseconds a_while{1};
    if (std::exchange(moves_, moves) == moves) return long_from_.expired();
    long_from_ = Deadline::in(a_while);
    expires_ = deadline;
    return false;
  }
  bool expired() const { return expires_.expired(); }
  /// From now on it is for `call`: of another one than before nothing has been awaited yet.
  void is_for(const PendingCall& call) {
    if (std::exchange(call_, &call) == &call) return;
    moves_ = none;
    is_new_ = true;
  }
  const PendingCall* call() const { return call_; }
  bool of_several() const { return of_several_; }
  /// Is this its first turn for that call?
  bool begins() { return std::exchange(is_new_, false); }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  unsigned tries_ = 0;
  const PendingCall* call_ = nullptr;
  std::uint64_t moves_ = none;
  bool of_several_;
  bool is_new_ = false;
  Deadline long_from_, expires_;
};

namespace detail {
extern std::atomic<int> pending_calls;
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const char this_thread;
[[gnu::tls_model("initial-exec")]] extern constinit thread_local Worker* own_worker;
Worker& new_worker();
}  // namespace detail

/// Of this thread's blocking calls.
inline Worker& worker() { return detail::own_worker ? *detail::own_worker : detail::new_worker(); }

/// Of pending calls: used inside Entered.
Worker& process_worker();

/// False: another thread has it.
inline bool Worker::try_lock() {
  const void* const me = &detail::this_thread;
  const void* owner = owner_.load(std::memory_order_relaxed);
  if (owner != me) {
    if (owner || !owner_.compare_exchange_strong(owner, me, std::memory_order_acquire, std::memory_order_relaxed))
      return false;
  }
  ++depth_;
  return true;
}

/// Nonblocking calls under way, and persistent ones that were started.
inline int pending_calls() { return detail::pending_calls.load(std::memory_order_acquire); }
/// Inside Entered, so that adding need not be atomic.
inline void count_pending(int more) { detail::pending_calls.store(pending_calls() + more, std::memory_order_release); }

}  // namespace stretto::mpi

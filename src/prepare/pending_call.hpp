// SPDX-License-Identifier: BSD-3-Clause
//
// A call that its function does not wait for: what nonblocking and persistent ones have in common.
#pragma once

#include <atomic>

#include "observe/pending.hpp"
#include "prepare/kept_arrays.hpp"
#include "prepare/prepared_call.hpp"
#include "prepare/worker.hpp"

namespace stretto::mpi {

/// All functions are called inside Entered(process_worker()), but for those that say otherwise.
class PendingCall : public execute::Owner {
 public:
  PendingCall& operator=(PendingCall&&) = delete;

  /// Moves on what the native library does of it.
  virtual void poll() {}
  /// Do only messages end it, and not the native library?
  virtual bool only_messages() const { return true; }
  /// May it be started again?
  virtual bool persists() const { return false; }
  /// There is no use in waiting for it.
  virtual void give_up() { finish(process_worker().failure(*c_)); }

  /// The program begins to wait for it.
  void waited_for() {
    if (watch_.posted != 0 && watch_.waited == 0) watch_.waited = execute::now();
  }
  /// From any thread.
  bool done() const { return done_.load(std::memory_order_acquire); }
  /// After its end: MPI's error code, raised where it should be. In the program's thread.
  int end();
  /// Waits a while for short messages on this node. True: it is done.
  bool spin();
  /// Waits for it, or until `enough`, or until another thread wants the worker. `alone`: nothing but its own end is
  /// waited for.
  void wait_inside(SharedWait& shared_wait, FunctionRef<bool()> enough, bool alone);
  /// A wait for it has come to this. Where the rank is stuck in it: says so, and ends the job.
  void after_wait(transport::Outcome outcome);
  /// After its end: MPI's error code, which nobody has heard of.
  int code() const { return code_; }
  /// After its end, where the program is done with it, or its communicator is freed.
  void detach() {
    times.complete();
    times.leave();
    c_ = nullptr;
  }
  /// Null after detach().
  Communicator* communicator() const { return c_; }
  Function function() const { return arguments_.signature.function; }
  /// Of the first stage, as Communicator::tags_given() counts.
  std::uint32_t first_tag() const { return first_tag_; }
  /// The function that the program called.
  virtual std::string called() const;

  observe::PendingTimes times;  ///< of the call that is under way, if it is observed

 protected:
  ~PendingCall() = default;
  /// What will be started.
  void describe(Communicator& c, const Arguments& arguments);
  /// It is under way.
  void begin();
  /// begin() is taken back.
  void leave();
  /// Instead of begin() and finish(): all was done while it was started.
  void end_at_once(int code);
  /// Without an operation_ it is complete.
  void post(const execute::Work& work, transport::Tag tag, const execute::Plan* ready);
  void release();
  void finish(int code);
  /// Parts of begin() and finish(); alone for a call that its function waits for, which does not count as pending.
  void reset();
  void settle(int code) {
    code_ = code;
    done_.store(true, std::memory_order_release);
  }
  virtual const Schedule* schedule() const = 0;

  Communicator* c_ = nullptr;
  Arguments arguments_;
  KeptArrays arrays_;  // that they refer to
  execute::Arena memory_;
  std::optional<PreparedCall> prepared_;
  HeldHandles held_;
  execute::Operation* operation_ = nullptr;
  bool reported_ = false;  // the program has heard of code_
  std::uint32_t first_tag_ = 0;
  learn::Watch watch_;       // of a call by which ranks learn
  std::uint64_t begun_ = 0;  // calls of the process when it began; 0: others were under way

 private:
  int code_ = MPI_SUCCESS;
  std::atomic<bool> done_{true};
};

/// Pending calls that this process has begun so far. Inside Entered.
std::uint64_t calls_begun();
/// Until it is done. Not inside Entered.
void await(PendingCall& call);
/// Until all on `c` are. Not inside Entered.
void await_all(Communicator& c, bool persistent_too);

}  // namespace stretto::mpi

// SPDX-License-Identifier: BSD-3-Clause
//
// A nonblocking call from its start to its end: the stages of a prepared call, each posted when the one before is over,
// whoever moves it on.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "prepare/pending_call.hpp"

namespace stretto::mpi {

/// How the native library would begin a nonblocking call: a closure of its function and the program's arguments, which
/// is copied as bytes. It takes copies of the arrays that it was given.
class NativeStart {
 public:
  NativeStart() = default;
  template <typename Closure>
    requires(!std::is_same_v<Closure, NativeStart>)
  explicit NativeStart(const Closure& closure)
      : call_([](const std::byte* bytes, MPI_Request* request, const KeptArrays& arrays) {
          return (*std::launder(reinterpret_cast<const Closure*>(bytes)))(request, arrays);
        }) {
    static_assert(std::is_trivially_copyable_v<Closure> && sizeof(Closure) <= sizeof closure_);
    static_assert(alignof(Closure) <= alignof(void*));
    new (closure_) Closure(closure);
  }

  int operator()(MPI_Request* request, const KeptArrays& arrays) const { return call_(closure_, request, arrays); }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  int (*call_)(const std::byte*, MPI_Request*, const KeptArrays&) = nullptr;
  alignas(void*) std::byte closure_[9 * sizeof(void*)];  // MPI_Ialltoallw has nine arguments besides the request
};

class NonblockingCall final : public PendingCall {
 public:
  /// False: it is left to the native library, which has been counted. `native` is kept if that may be found out
  /// later.
  bool start(Communicator& c, const Arguments& arguments, const NativeStart& native);

  /// When start() has thrown: there is no such call.
  void drop() {
    if (!done()) finish(MPI_ERR_OTHER);
  }
  /// After start(): is it complete, and not even observed?
  bool was_at_once() const { return !c_; }
  /// Is it one of a round, in which ranks learn?
  bool timed() const { return static_cast<bool>(turn_); }
  /// After its end, while its communicator is there.
  void tell_time();
  /// After its end: must it still be taken from its communicator, which has to raise its error or count it?
  bool needs_communicator() const { return timed() || code() != MPI_SUCCESS || times; }

  void poll() override;
  bool only_messages() const override { return !undecided_ && native_request_ == constants().request_null; }
  void give_up() override;
  std::string called() const override;
  void ended(execute::Operation& operation) override;

 private:
  bool start_new(Communicator& c, const Arguments& arguments, const NativeStart& native);
  void begin_pending();
  bool begin_stages();
  bool may_wait();
  void hold_arguments();
  bool start_kept(const Arguments& arguments);
  void start_queued();
  static void start_next(Communicator& c);
  bool step();
  bool end_prepared();
  bool start_natively();
  void decide();
  void finish(int code);
  transport::Tag next_tag() {
    return {tag_.communicator, (tag_.sequence + stages_++) % transport::sequences_of_calls, 0};
  }
  const Schedule* schedule() const override;

  transport::Tag tag_;        // of the first stage; the others follow
  std::uint32_t stages_ = 0;  // posted
  std::shared_ptr<PlanCache::Cached> kept_;
  NativeStart native_;            // null: it may not be left any more
  MPI_Request native_request_{};  // null unless the native library does it
  bool undecided_ = false;
  bool queued_ = false;    // behind others that are undecided, or whose tag it would have
  bool prepares_ = false;  // it was not kept: finish() has to clear what start() took
  Learner::Turn turn_;
};

/// Until all calls on `c` know their algorithms, for what follows on it may go by what they found out; and until what
/// follows can have a tag of its own.
void await_decisions(Communicator& c);

/// body(worker) of a call that blocks, beside what is pending.
template <typename Body>
[[gnu::always_inline]] inline auto beside_pending(Communicator& c, Body body) {
  const int persistent = c.threads() ? c.persistent.load(std::memory_order_relaxed) : 0;
  if (pending_calls() == 0 && persistent == 0) [[likely]]
    return body(worker());
  if (c.threads()) {
    if (!process_worker().shared) return body(worker());  // of a session: nothing is pending on it
    await_decisions(c);
    const StagesBeside beside(worker(), c);
    return body(worker());
  }
  const Entered entered(process_worker());
  await_decisions(c);
  return body(process_worker());
}

}  // namespace stretto::mpi

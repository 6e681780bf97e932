// SPDX-License-Identifier: BSD-3-Clause
//
// Moves operations on: those that were posted and are not complete, in whatever order their messages come.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "execute/operation.hpp"
#include "support/function_ref.hpp"

namespace stretto::execute {

/// Hears of the end of operations that nobody waits for.
class Owner {
 public:
  /// Releases it; may post others.
  virtual void ended(Operation& operation) = 0;

 protected:
  ~Owner() = default;
};

/// Used by one thread at a time; keeps the memory of operations from call to call.
class Progress {
 public:
  /// Begins an operation, which may end at once: `owner` hears of a later end, in poll() or wait(). What `work` and
  /// `paths` point at, and `ready`, stays until release(); with `ready`, `work` as well.
  Operation& post(const Work& work, const Paths& paths, const Plan* ready = nullptr, Owner* owner = nullptr);
  /// The same. Null: a call of short messages, and all of them were there; it is complete, without an operation.
  Operation* post_short(const Work& work, const Paths& paths, const Plan& ready, Owner* owner = nullptr);
  /// Moves on what these rights suffice for, without waiting. False: nothing could be done.
  bool poll(const Rights& rights = {});
  /// How often something has moved so far.
  std::uint64_t moves() const { return moves_; }
  /// Until `operation` is complete. `deadline` is for each wait: its span begins anew when some message has come or
  /// gone. Others go on meanwhile.
  transport::Outcome wait(Operation& operation, const Deadline& deadline);
  /// Until `done` says so, which is asked after every look for messages. `paths` says how to wait and whether there is
  /// use in it; `may_block`: only messages end this wait.
  transport::Outcome wait(FunctionRef<bool()> done, const Paths& paths, bool may_block, const Deadline& deadline);
  /// After its end, or to give it up.
  void release(Operation& operation);

  /// A blocking call: post(), wait(), release(); or the fast path.
  transport::Outcome run(const Work& work, const Paths& paths, const Deadline& deadline, const Plan* ready = nullptr);
  /// After run() that did not end well: what its segments were waiting for.
  const std::vector<Stall>& stalls() const { return stalls_; }
  /// After run() in one segment without `ready`: see Operation::scratch(). Until the next call.
  const std::byte* scratch() const { return scratch_; }

 private:
  struct Release;
  using Guard = std::unique_ptr<Operation, Release>;
  Operation& unused() {
    if (unused_.empty()) [[unlikely]]
      add_unused();
    return *unused_.back();
  }
  void add_unused();
  Operation& take_unused();
  transport::Outcome finish(Operation& operation, const Deadline& deadline);
  bool advance_all(const Rights& rights = {});
  bool drain_all(const Rights& rights = {});
  void unblock_all(const Rights& rights = {});
  void tell_owners();
  /// Takes note of messages that have come or gone over transports.
  bool collect(const Rights& rights = {});
  void tell();
  template <typename Done>
  transport::Outcome wait_until(Done done, const Paths& paths, Operation* only, bool may_block,
                                const Deadline& deadline);
  /// Waits for such a message of `operation`, where there is nothing else to wait for.
  transport::Outcome await(Operation& operation, const Deadline& deadline);

  shm::AccessSelectors selectors_;
  /// Connections note looks of several: each has numbers of its own.
  static std::uint64_t first_look() {
    static std::atomic<std::uint64_t> made{0};
    return (made.fetch_add(1, std::memory_order_relaxed) + 1) << 40;
  }
  std::uint64_t looks_ = first_look();  // at all operations
  std::vector<std::unique_ptr<Operation>> all_;
  std::vector<Operation*> unused_, posted_, ended_;  // ended_: their owners do not know yet
  unsigned idle_polls_ = 0;
  std::uint64_t moves_ = 0;
  std::vector<transport::Ticket> done_;
  std::vector<Stall> stalls_;
  const std::byte* scratch_ = nullptr;
};

}  // namespace stretto::execute

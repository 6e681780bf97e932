// SPDX-License-Identifier: BSD-3-Clause
//
// Moves operations on: those that were posted and are not complete, in whatever order their messages come.
#pragma once

#include <memory>
#include <vector>

#include "execute/operation.hpp"

namespace stretto::execute {

/// Used by one thread at a time; keeps the memory of operations from call to call.
class Progress {
 public:
  /// Begins an operation. What `work` and `paths` point at, and `ready`, stays until release().
  Operation& post(const Work& work, const Paths& paths, const Plan* ready = nullptr);
  /// Moves all on, without waiting. False: nothing could be done.
  bool poll();
  /// Until `operation` is complete. `deadline` is for each wait: its span begins anew when some message has come or
  /// gone. Others go on meanwhile.
  transport::Outcome wait(Operation& operation, const Deadline& deadline);
  /// After its end, or to give it up.
  void release(Operation& operation);

  /// A blocking call: post(), wait(), release(); or the fast path.
  transport::Outcome run(const Work& work, const Paths& paths, const Deadline& deadline, const Plan* ready = nullptr);
  /// After run() that did not end well: what its segments were waiting for.
  const std::vector<Stall>& stalls() const { return stalls_; }
  /// After run() in one segment: see Operation::scratch(). Until the next post().
  const std::byte* scratch() const { return scratch_; }

 private:
  class Guard;
  Operation& unused();
  Operation& take_unused();
  transport::Outcome finish(Operation& operation, const Deadline& deadline);
  bool advance_all();
  /// Takes note of messages that have come or gone over transports.
  bool collect();
  void tell();
  /// Waits for such a message of `operation`, where there is nothing else to wait for.
  transport::Outcome await(Operation& operation, const Deadline& deadline);

  transport::shm::StoreSelector stores_;
  std::vector<std::unique_ptr<Operation>> all_;
  std::vector<Operation*> unused_, posted_;
  std::vector<transport::Ticket> done_;
  std::vector<Stall> stalls_;
  const std::byte* scratch_ = nullptr;
};

}  // namespace stretto::execute

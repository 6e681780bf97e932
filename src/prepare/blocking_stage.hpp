// SPDX-License-Identifier: BSD-3-Clause
//
// A stage of a blocking call under MPI_THREAD_MULTIPLE whose communicator has pending calls too: they share its
// messages, so that the stage is posted beside them, and moved on by whoever moves those on.
#pragma once

#include "prepare/pending_call.hpp"

namespace stretto::mpi {

/// All functions are called inside Entered(process_worker()).
class BlockingStage final : public PendingCall {
 public:
  BlockingStage() = default;
  ~BlockingStage() = default;  // its operation must have been forgotten

  void start(Communicator& c, Function function, const execute::Work& work, const execute::Plan* ready);
  void ended(execute::Operation& operation) override;
  void give_up() override;
  /// Its operation is given up, or has ended and nobody asks for scratch() any more.
  void forget() { release(); }
  /// See Operation::scratch(). After the end, until forget() or the next start().
  const std::byte* scratch() const { return operation_ ? operation_->scratch() : nullptr; }

 private:
  const Schedule* schedule() const override { return schedule_; }
  const Schedule* schedule_ = nullptr;
};

}  // namespace stretto::mpi

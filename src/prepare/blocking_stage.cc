// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/blocking_stage.hpp"

namespace stretto::mpi {

void BlockingStage::start(Communicator& c, Function function, const execute::Work& work, const execute::Plan* ready) {
  forget();
  c_ = &c;
  arguments_.signature.function = function;
  schedule_ = work.schedule;
  reset();
  post(work, c.next_tag(), ready);
  if (!operation_)
    settle(MPI_SUCCESS);
  else if (!operation_->active())
    ended(*operation_);
}

/// Nobody may move the operation on when the call has returned: what it refers to is gone then.
void BlockingStage::give_up() {
  const int code = process_worker().failure(*c_);
  forget();
  settle(code);
}

void BlockingStage::ended(execute::Operation& operation) {
  settle(operation.outcome() == transport::Outcome::ok ? MPI_SUCCESS : process_worker().failure(*c_));
}

}  // namespace stretto::mpi

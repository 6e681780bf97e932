// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/persistent_call.hpp"

#include <utility>

#include "mpi/types.hpp"
#include "prepare/perform.hpp"

namespace stretto::mpi {

Served PersistentCall::make(Worker& runner, Communicator& c, const Arguments& arguments) {
  describe(c, arguments);
  tag_ = c.next_persistent_tag();
  if (!tag_) return pass(function(), Passed::communicator);
  const PackingFor program(c.comm());
  prepared_.emplace(c, arguments_, memory_);
  while (prepared_->next(runner.progress.scratch())) {
    if (prepared_->is_collective()) {
      prepared_->hold_handles(held_);
      work_ = prepared_->work();
      complete_work(c, prepared_->decision(), work_);
      has_plan_ = segments_of(work_) == 1;
      if (has_plan_) {
        plan_.resolve(work_, 0);
        plan_.find_fast_path(work_);
      }
      is_plain_ = prepared_->is_plain();
      return MPI_SUCCESS;
    }
    const int code = runner.run(c, function(), prepared_->work(), nullptr);
    if (code != MPI_SUCCESS) return code;
  }
  return prepared_->end();
}

void PersistentCall::count() {
  if (starts_ > 0) prepared_->decision().served->fetch_add(std::exchange(starts_, 0), std::memory_order_relaxed);
}

/// What is complete at once is not even begun.
void PersistentCall::start() {
  ++starts_;
  ++c_->calls;
  set_last_algorithm(algorithm().id.data());
  if (times) [[unlikely]]
    begin();
  if (!is_plain_) {
    const PackingFor program(c_->comm());
    prepared_->pack_again();
  }
  post(work_, *tag_, has_plan_ ? &plan_ : nullptr);
  if (operation_) {
    if (done()) begin();
    if (!operation_->active()) ended(*operation_);
  } else if (done()) {
    end_at_once(unpacked());
  } else {
    finish(unpacked());
  }
}

/// After the messages: MPI's error code.
int PersistentCall::unpacked() {
  if (is_plain_) return MPI_SUCCESS;
  const PackingFor program(c_->comm());
  const Served code = prepared_->end();
  reported_ = prepared_->reported();
  return *code;
}

void PersistentCall::ended(execute::Operation& operation) {
  if (operation.outcome() != transport::Outcome::ok) return finish(process_worker().failure(*c_));
  finish(unpacked());
}

}  // namespace stretto::mpi

// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/persistent_call.hpp"

#include "mpi/types.hpp"
#include "prepare/perform.hpp"

namespace stretto::intercept {

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
      return MPI_SUCCESS;
    }
    const int code = runner.run(c, function(), prepared_->work(), nullptr);
    if (code != MPI_SUCCESS) return code;
  }
  return prepared_->end();
}

void PersistentCall::start() {
  begin();
  count_served(*c_, *prepared_->decision().served, algorithm());
  const PackingFor program(c_->comm());
  prepared_->pack_again();
  post(work_, *tag_, has_plan_ ? &plan_ : nullptr);
  if (!operation_->active()) ended(*operation_);
}

void PersistentCall::ended(execute::Operation& operation) {
  if (operation.outcome() != transport::Outcome::ok) return finish(process_worker().failure(*c_));
  const PackingFor program(c_->comm());
  const Served code = prepared_->end();
  reported_ = prepared_->reported();
  finish(*code);
}

}  // namespace stretto::intercept

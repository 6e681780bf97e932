// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/progress.hpp"

#include <mutex>

#include "mpi/native.hpp"

namespace stretto::mpi {
namespace {

int no_free(void*) { return MPI_SUCCESS; }
int no_status(void*, MPI_Status*) { return MPI_SUCCESS; }
int no_cancel(void*, int) { return MPI_SUCCESS; }

std::mutex progress_mutex;  // guards what follows
enum class Stage { not_made, pending, ended };
Stage stage = Stage::not_made;
MPI_Request never_complete;

}  // namespace

// By asking for a generalized request that is not complete. Any other call that lets the MPI work needs a communicator,
// and would report to the program what is wrong with that one.
void drive_progress() {
  const std::unique_lock lock(progress_mutex, std::try_to_lock);
  if (!lock || stage == Stage::ended) return;  // another thread is at it
  if (stage == Stage::not_made) {
    if (native().Grequest_start(no_status, no_free, no_cancel, nullptr, &never_complete) != MPI_SUCCESS) return;
    stage = Stage::pending;
  }
  int complete = 0;
  native().Test(&never_complete, &complete, MPI_STATUS_IGNORE);
}

void end_progress() {
  const std::lock_guard lock(progress_mutex);
  if (stage == Stage::pending) {
    native().Grequest_complete(never_complete);
    native().Wait(&never_complete, MPI_STATUS_IGNORE);
  }
  stage = Stage::ended;
}

}  // namespace stretto::mpi

// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/progress.hpp"

#include <mutex>

#include "mpi/native.hpp"

namespace stretto::mpi {
namespace {

int nothing(void*) { return MPI_SUCCESS; }
int no_status(void*, MPI_Status*) { return MPI_SUCCESS; }
int no_cancel(void*, int) { return MPI_SUCCESS; }

std::mutex mutex;  // guards what follows
enum class State { not_made, pending, ended };
State state = State::not_made;
MPI_Request request;

}  // namespace

// By asking for a generalized request that is not complete. Any other call that lets the MPI work needs a communicator,
// and would report to the program what is wrong with that one.
void drive_progress() {
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock || state == State::ended) return;  // another thread is at it
  if (state == State::not_made) {
    if (native().Grequest_start(no_status, nothing, no_cancel, nullptr, &request) != MPI_SUCCESS) return;
    state = State::pending;
  }
  int complete = 0;
  native().Test(&request, &complete, MPI_STATUS_IGNORE);
}

void end_progress() {
  const std::lock_guard lock(mutex);
  if (state == State::pending) {
    native().Grequest_complete(request);
    native().Wait(&request, MPI_STATUS_IGNORE);
  }
  state = State::ended;
}

}  // namespace stretto::mpi

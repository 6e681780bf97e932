// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/bootstrap.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "settings/settings.hpp"
#include "support/deadline.hpp"
#include "support/say.hpp"

namespace stretto::mpi {

bool threads_at_once() {
  int level = MPI_THREAD_SINGLE;
  native().Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

Bootstrap::Bootstrap(MPI_Comm comm, std::string cause, std::optional<std::chrono::seconds> patience)
    : comm_(comm),
      cause_(std::move(cause)),
      patience_(patience) {
  native().Comm_rank(comm, &rank_);
  native().Comm_size(comm, &ranks_);
}

void Bootstrap::allgather(const void* mine, void* all, std::size_t bytes) {
  const int n = static_cast<int>(bytes);
  MPI_Request request = constants().request_null;
  wait(native().Iallgather(mine, n, constants().byte, all, n, constants().byte, comm_, &request), request);
}

void Bootstrap::minimum(std::span<const std::int64_t> mine, std::int64_t* least) {
  std::ranges::copy(mine, least);
  MPI_Request request = constants().request_null;
  wait(native().Iallreduce(mine.data(), least, static_cast<int>(mine.size()), MPI_INT64_T, MPI_MIN, comm_, &request),
       request);
}

void Bootstrap::broadcast(void* data, std::size_t bytes) {
  constexpr std::size_t piece = 4096;
  for (std::size_t first = 0; first < bytes; first += piece) {
    const int n = static_cast<int>(std::min(piece, bytes - first));
    MPI_Request request = constants().request_null;
    wait(native().Ibcast(static_cast<char*>(data) + first, n, constants().byte, 0, comm_, &request), request);
  }
}

bool Bootstrap::agreed() {
  const std::int64_t mine = ok_ ? 1 : 0;
  std::int64_t least = 0;
  minimum({&mine, 1}, &least);
  return ok_ && least == 1;
}

// Nonblocking calls and a wait of our own: it yields the core, where MPICH's would spin through whole time slices,
// and it has a deadline.
void Bootstrap::wait(int begun, MPI_Request& request) {
  if (begun != MPI_SUCCESS) return fail();
  const auto& seconds = settings().deadline;
  const Deadline deadline = patience_ ? Deadline::in(*patience_)
                            : seconds ? Deadline::in(std::chrono::duration<double>(*seconds))
                                      : Deadline();
  for (int done = 0;;) {
    if (native().Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return fail();
    if (done) return;
    sched_yield();
    if (!deadline.expired()) continue;
    if (patience_) return fail();
    expired();
  }
}

void Bootstrap::expired() const {
  char text[256];
  std::snprintf(text, sizeof text,
                "rank %d of %d hangs in %s, after %g s: in set-up, where it waits for all other ranks", rank_, ranks_,
                cause_.c_str(), *settings().deadline);
  say(text, "compare the reports of all ranks: one that reports nothing never came, or has no Stretto in it");
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the others' deadlines are near: let them report as well
  native().Abort(comm_, 1);
  std::abort();
}

}  // namespace stretto::mpi

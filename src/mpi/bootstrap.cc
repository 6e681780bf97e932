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
#include "support/launcher.hpp"
#include "support/say.hpp"

namespace stretto::mpi {

Bootstrap::Bootstrap(MPI_Comm comm, std::string cause, std::optional<std::chrono::seconds> patience)
    : comm_(comm),
      cause_(std::move(cause)),
      patience_(patience) {
  native().Comm_rank(comm, &rank_);
  native().Comm_size(comm, &ranks_);
}

Bootstrap::Bootstrap(Bootstrap& whole, std::vector<Rank> members)
    : whole_(&whole),
      members_(std::move(members)),
      comm_(whole.comm()),
      cause_(whole.cause()),
      rank_(static_cast<Rank>(std::ranges::find(members_, whole.rank()) - members_.begin())),
      ranks_(static_cast<Rank>(members_.size())) {}

void Bootstrap::allgather(const void* mine, void* all, std::size_t bytes) {
  if (whole_) {
    std::vector<std::byte> of_whole(bytes * static_cast<std::size_t>(whole_->ranks()));
    whole_->allgather(mine, of_whole.data(), bytes);
    auto* to = static_cast<std::byte*>(all);
    for (const Rank r : members_) to = std::copy_n(of_whole.data() + bytes * static_cast<std::size_t>(r), bytes, to);
    return;
  }
  const int n = static_cast<int>(bytes);
  MPI_Request request = constants().request_null;
  wait(native().Iallgather(mine, n, constants().byte, all, n, constants().byte, comm_, &request), request);
}

void Bootstrap::minimum(std::span<const std::int64_t> mine, std::int64_t* least) {
  if (whole_) {
    std::vector<std::int64_t> all(mine.size() * members_.size());
    allgather(mine.data(), all.data(), mine.size_bytes());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      least[i] = mine[i];
      for (std::size_t at = i; at < all.size(); at += mine.size()) least[i] = std::min(least[i], all[at]);
    }
    return;
  }
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
  const std::int64_t least = minimum(ok() ? 1 : 0);
  return ok() && least == 1;
}

// Nonblocking calls and a wait of our own: it gives up the core, where MPICH's would spin through whole time slices,
// and it has a deadline.
void Bootstrap::wait(int begun, MPI_Request& request) {
  if (begun != MPI_SUCCESS) return fail();
  await([&] {
    int done = 0;
    if (native().Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) return done != 0;
    fail();
    return true;
  });
}

void Bootstrap::await(FunctionRef<bool()> done) {
  const Deadline deadline = patience_ ? Deadline::in(*patience_) : Deadline::after(settings().deadline);
  // Many ranks that poll would take most of the cores from those they wait for.
  static const bool sleeps = more_ranks_than_cores();
  for (int yields = 0; !done();) {
    if (meanwhile_) meanwhile_();
    if (sleeps && yields == 10) {
      std::this_thread::sleep_for(std::chrono::microseconds(1));  // the system makes it some fifty
    } else {
      sched_yield();
      yields += sleeps;
    }
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

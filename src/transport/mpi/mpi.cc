// SPDX-License-Identifier: BSD-3-Clause
#include "transport/mpi/mpi.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "support/launcher.hpp"

namespace stretto::transport {
namespace {

using intercept::constants;
using intercept::native;

constexpr Bytes largest_part = Bytes{1} << 30;  // MPI counts in int

/// How often to ask before the core is offered to others. With more ranks than cores the peer may be waiting for this
/// very core; without, a moment of patience is cheaper than a call to the kernel.
int patience() {
  static const int polls = [] {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return launched_here() > cores ? 1 : 1000;
  }();
  return polls;
}

}  // namespace

template <typename Post>
void MpiTransport::in_parts(Bytes bytes, Ticket ticket, bool receive, Post post) {
  Bytes first = 0;
  do {
    const Bytes part = std::min(bytes - first, largest_part);
    posted_.push_back({constants().request_null, ticket, receive});
    const int error = post(first, static_cast<int>(part), &posted_.back().request);
    if (error != MPI_SUCCESS) error_ = error;
    first += part;
  } while (first < bytes);
}

void MpiTransport::send(Rank peer, int channel, const void* data, Bytes bytes, Ticket ticket) {
  in_parts(bytes, ticket, false, [&](Bytes first, int count, MPI_Request* request) {
    return native().Isend(static_cast<const char*>(data) + first, count, constants().byte, peer, channel, comm_,
                          request);
  });
}

void MpiTransport::receive(Rank peer, int channel, void* data, Bytes bytes, Ticket ticket) {
  in_parts(bytes, ticket, true, [&](Bytes first, int count, MPI_Request* request) {
    return native().Irecv(static_cast<char*>(data) + first, count, constants().byte, peer, channel, comm_, request);
  });
}

bool MpiTransport::pending(Ticket ticket) const {
  return std::any_of(posted_.begin(), posted_.end(), [&](const Posted& p) { return p.ticket == ticket; });
}

// One MPI_Test for each, not one MPI_Testsome for all: MPICH reports errors of the latter to MPI_COMM_WORLD, whose
// error handler may end the program.
void MpiTransport::test_each(std::vector<Ticket>& done) {
  for (std::size_t i = 0; i < posted_.size() && error_ == MPI_SUCCESS;) {
    int complete = 0;
    MPI_Status status;
    error_ = native().Test(&posted_[i].request, &complete, &status);
    if (error_ != MPI_SUCCESS || !complete) {
      ++i;
      continue;
    }
    const Ticket ticket = posted_[i].ticket;
    posted_.erase(posted_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!pending(ticket)) done.push_back(ticket);  // the last part of its message
  }
}

/// What is still posted must not write to memory that is used for something else later.
void MpiTransport::give_up() {
  for (Posted& p : posted_) {
    if (p.request == constants().request_null) continue;
    if (p.receive) native().Cancel(&p.request);
    native().Request_free(&p.request);
  }
  posted_.clear();
}

Outcome MpiTransport::wait(std::vector<Ticket>& done, const Deadline& deadline) {
  const std::size_t before = done.size();
  int polls = 0;
  while (error_ == MPI_SUCCESS && done.size() == before) {
    if (posted_.empty()) return Outcome::ok;
    test_each(done);
    if (done.size() == before && ++polls >= patience()) {
      polls = 0;
      if (deadline.expired()) return Outcome::expired;
      sched_yield();
    }
  }
  if (error_ == MPI_SUCCESS) return Outcome::ok;
  give_up();
  return Outcome::failed;
}

Outcome MpiTransport::poll(std::vector<Ticket>& done) {
  if (error_ == MPI_SUCCESS) test_each(done);
  if (error_ == MPI_SUCCESS) return Outcome::ok;
  give_up();
  return Outcome::failed;
}

}  // namespace stretto::transport

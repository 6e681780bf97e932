// SPDX-License-Identifier: BSD-3-Clause
#include "transport/mpi/mpi.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "intercept/launcher.hpp"

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
    return intercept::launched_here() > cores ? 1 : 1000;
  }();
  return polls;
}

}  // namespace

template <typename Post>
void MpiTransport::in_parts(Bytes bytes, Ticket ticket, Post post) {
  Bytes first = 0;
  do {
    const Bytes part = std::min(bytes - first, largest_part);
    requests_.push_back(constants().request_null);
    tickets_.push_back(ticket);
    const int error = post(first, static_cast<int>(part), &requests_.back());
    if (error != MPI_SUCCESS) error_ = error;
    first += part;
    if (first < bytes) parts_ = true;
  } while (first < bytes);
}

void MpiTransport::send(Rank peer, int channel, const void* data, Bytes bytes, Ticket ticket) {
  in_parts(bytes, ticket, [&](Bytes first, int count, MPI_Request* request) {
    return native().Isend(static_cast<const char*>(data) + first, count, constants().byte, peer, channel, comm_,
                          request);
  });
}

void MpiTransport::receive(Rank peer, int channel, void* data, Bytes bytes, Ticket ticket) {
  in_parts(bytes, ticket, [&](Bytes first, int count, MPI_Request* request) {
    return native().Irecv(static_cast<char*>(data) + first, count, constants().byte, peer, channel, comm_, request);
  });
}

bool MpiTransport::still_pending(Ticket ticket) const {
  return std::find(tickets_.begin(), tickets_.end(), ticket) != tickets_.end();
}

void MpiTransport::collect(int completed, std::vector<Ticket>& done) {
  const std::size_t first_new = done.size();
  for (int i = 0; i < completed; ++i) done.push_back(tickets_[static_cast<std::size_t>(indices_[i])]);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == constants().request_null) continue;
    requests_[kept] = requests_[i];
    tickets_[kept++] = tickets_[i];
  }
  requests_.resize(kept);
  tickets_.resize(kept);
  if (!parts_) return;
  // A message in parts is complete with its last part.
  std::sort(done.begin() + static_cast<std::ptrdiff_t>(first_new), done.end());
  done.erase(std::unique(done.begin() + static_cast<std::ptrdiff_t>(first_new), done.end()), done.end());
  done.erase(std::remove_if(done.begin() + static_cast<std::ptrdiff_t>(first_new), done.end(),
                            [&](Ticket t) { return still_pending(t); }),
             done.end());
  if (requests_.empty()) parts_ = false;
}

Outcome MpiTransport::wait(std::vector<Ticket>& done, const Deadline& deadline) {
  const std::size_t before = done.size();
  int polls = 0;
  while (done.size() == before) {
    if (error_ != MPI_SUCCESS) break;
    if (requests_.empty()) return Outcome::ok;
    indices_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int completed = 0;
    const int error = native().Testsome(static_cast<int>(requests_.size()), requests_.data(), &completed,
                                        indices_.data(), statuses_.data());
    if (error != MPI_SUCCESS) {
      error_ = error;
      for (int i = 0; error == MPI_ERR_IN_STATUS && i < completed; ++i)
        if (statuses_[static_cast<std::size_t>(i)].MPI_ERROR != MPI_SUCCESS)
          error_ = statuses_[static_cast<std::size_t>(i)].MPI_ERROR;
      break;
    }
    if (completed > 0 && completed != MPI_UNDEFINED) {
      collect(completed, done);
    } else if (++polls >= patience()) {
      polls = 0;
      if (deadline.expired()) return Outcome::expired;
      sched_yield();
    }
  }
  if (error_ == MPI_SUCCESS) return Outcome::ok;
  requests_.clear();
  tickets_.clear();
  return Outcome::failed;
}

}  // namespace stretto::transport

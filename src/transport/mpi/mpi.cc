// SPDX-License-Identifier: BSD-3-Clause
#include "transport/mpi/mpi.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "mpi/flavour/flavour.hpp"
#include "support/launcher.hpp"

namespace stretto::transport {
namespace {

using mpi::constants;
using mpi::native;

constexpr int channels = 64;                    // more than an operation has segments in flight
constexpr Bytes largest_part = Bytes{1} << 30;  // MPI counts in int

std::atomic<bool> some_abandoned{false};

/// Before the core is yielded. On an oversubscribed node the peer may be waiting for this very core; elsewhere some
/// polls more are cheaper than a call to the kernel.
int polls_before_yield() {
  static const int polls = more_ranks_than_cores() || mpi::flavour::yields_when_idle() ? 1 : 1000;
  return polls;
}

/// How many tags there are. The same for all communicators, and an attribute of MPI_COMM_WORLD alone in Open MPI.
std::int64_t all_tags() {
  constexpr std::int64_t least = 32768;  // that MPI promises
  int* most = nullptr;
  int there = 0;
  native().Initialized(&there);
  if (!there || native().Comm_get_attr(constants().world, MPI_TAG_UB, &most, &there) != MPI_SUCCESS || !there)
    return least;
  return std::int64_t{*most} + 1;
}

/// So many calls, and as many persistent ones, have tags of their own. A power of 2, as how far calls are counted.
std::uint32_t sequences_in(std::int64_t tags) {
  return static_cast<std::uint32_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::min(tags / channels / 2, std::int64_t{sequences_of_calls}))));
}

}  // namespace

int parts_of_tags() {
  constexpr int enough = 2 * channels * 256;  // tags: as many as MPI promises for all
  static const auto parts = std::clamp<std::int64_t>(all_tags() / enough, 1, most_parts_of_tags);
  return static_cast<int>(parts);
}

MpiTransport::MpiTransport(MPI_Comm comm) : comm_(comm), sequences_(sequences_in(all_tags())) {}

MpiTransport::MpiTransport(MPI_Comm comm, int part, std::vector<int> ranks) : comm_(comm), ranks_(std::move(ranks)) {
  const std::int64_t tags = all_tags() / parts_of_tags();
  first_tag_ = static_cast<int>(part * tags);
  sequences_ = sequences_in(tags);
}

/// Operations of a communicator are called in the same order on all ranks: one may have the tag of another that was
/// called so many operations before.
int MpiTransport::mpi_tag(Tag tag) const {
  const bool persistent = (tag.sequence & sequences_of_calls) != 0;
  const std::uint32_t sequence = tag.sequence % sequences_of_calls % sequences_;
  return first_tag_ + static_cast<int>(sequence + (persistent ? sequences_ : 0)) * channels + tag.channel;
}

void MpiTransport::note(int error) {
  if (error != MPI_SUCCESS) error_ = last_error_ = error;
}

template <typename Post>
void MpiTransport::in_parts(Bytes bytes, Ticket ticket, bool receive, Post post) {
  Bytes first = 0;
  do {
    const Bytes part = std::min(bytes - first, largest_part);
    posted_.push_back({constants().request_null, ticket, receive});
    note(post(first, static_cast<int>(part), &posted_.back().request));
    first += part;
  } while (first < bytes);
}

void MpiTransport::send(Rank peer, Tag tag, const void* data, Bytes bytes, Ticket ticket) {
  in_parts(bytes, ticket, false, [&](Bytes first, int count, MPI_Request* request) {
    return native().Isend(static_cast<const char*>(data) + first, count, constants().byte, rank_of(peer), mpi_tag(tag),
                          comm_, request);
  });
}

void MpiTransport::receive(Rank peer, Tag tag, void* data, Bytes bytes, Ticket ticket) {
  in_parts(bytes, ticket, true, [&](Bytes first, int count, MPI_Request* request) {
    return native().Irecv(static_cast<char*>(data) + first, count, constants().byte, rank_of(peer), mpi_tag(tag), comm_,
                          request);
  });
}

void MpiTransport::test(std::vector<Ticket>& done) {
  if (posted_.size() > 1 && mpi::flavour::traits.testany_keeps_errors)
    test_any(done);
  else
    test_each(done);
}

/// Each MPI_Test asks the network again, and lets go of the core where the MPI yields while it is idle: a rank with
/// seven messages under way would wait seven turns of the others. MPI_Testany does both once.
void MpiTransport::test_any(std::vector<Ticket>& done) {
  requests_.clear();
  for (const Posted& one : posted_) requests_.push_back(one.request);
  int complete = 0, index = MPI_UNDEFINED;
  do {
    MPI_Status status;
    note(native().Testany(static_cast<int>(requests_.size()), requests_.data(), &index, &complete, &status));
  } while (error_ == MPI_SUCCESS && complete && index != MPI_UNDEFINED);
  for (std::size_t i = 0; i < posted_.size(); ++i) posted_[i].request = requests_[i];
  if (error_ != MPI_SUCCESS) return;
  for (std::size_t i = 0; i < posted_.size();) {
    if (posted_[i].request == constants().request_null)
      take_complete(i, done);
    else
      ++i;
  }
}

void MpiTransport::take_complete(std::size_t i, std::vector<Ticket>& done) {
  const Ticket ticket = posted_[i].ticket;
  posted_.erase(posted_.begin() + static_cast<std::ptrdiff_t>(i));
  const bool was_last = std::ranges::find(posted_, ticket, &Posted::ticket) == posted_.end();  // part of its message
  if (was_last) done.push_back(ticket);
}

// Nor MPI_Testsome: MPICH reports errors of a test of several to MPI_COMM_WORLD, whose error handler may end the
// program.
void MpiTransport::test_each(std::vector<Ticket>& done) {
  for (std::size_t i = 0; i < posted_.size() && error_ == MPI_SUCCESS;) {
    int complete = 0;
    MPI_Status status;
    note(native().Test(&posted_[i].request, &complete, &status));
    if (error_ == MPI_SUCCESS && complete)
      take_complete(i, done);
    else
      ++i;
  }
}

/// What is still posted must not write to memory that is used for something else later.
void MpiTransport::abandon(std::uint32_t operation) {
  abandoned_ = some_abandoned = true;
  std::erase_if(posted_, [&](Posted& p) {
    if (operation_of(p.ticket) != operation) return false;
    if (p.request == constants().request_null) return true;
    if (p.receive) native().Cancel(&p.request);
    native().Request_free(&p.request);
    return true;
  });
  if (posted_.empty()) error_ = MPI_SUCCESS;
}

bool MpiTransport::any_abandoned() { return some_abandoned; }

bool MpiTransport::poll_yields() const { return mpi::flavour::yields_when_idle(); }

Outcome MpiTransport::wait(std::vector<Ticket>& done, const Deadline& deadline) {
  const std::size_t before = done.size();
  int polls = 0;
  while (error_ == MPI_SUCCESS && done.size() == before) {
    if (posted_.empty()) return Outcome::ok;
    test(done);
    if (done.size() == before && ++polls >= polls_before_yield()) {
      polls = 0;
      if (deadline.expired()) return Outcome::expired;
      if (!poll_yields()) sched_yield();
    }
  }
  return error_ == MPI_SUCCESS ? Outcome::ok : Outcome::failed;
}

Outcome MpiTransport::poll(std::vector<Ticket>& done) {
  if (error_ == MPI_SUCCESS) test(done);
  return error_ == MPI_SUCCESS ? Outcome::ok : Outcome::failed;
}

}  // namespace stretto::transport

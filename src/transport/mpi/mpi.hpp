// SPDX-License-Identifier: BSD-3-Clause
//
// Messages over the program's own MPI, on a communicator without other messages: one object for each of the program's.
#pragma once

#include <utility>
#include <vector>

#include "mpi/native.hpp"
#include "transport/transport.hpp"

namespace stretto::transport {

/// So many transports can share a communicator, each with a part of its tags. 1: the MPI has too few tags.
int parts_of_tags();
inline constexpr int most_parts_of_tags = 4096;

class MpiTransport final : public Transport {
 public:
  /// `comm` must return its errors (MPI_ERRORS_RETURN) and carry no other messages.
  explicit MpiTransport(MPI_Comm comm);
  /// Nor others with this part of its tags. Rank r is `ranks[r]` in it; empty: it has the same ranks.
  MpiTransport(MPI_Comm comm, int part, std::vector<int> ranks);

  void send(Rank peer, Tag tag, const void* data, Bytes bytes, Ticket ticket) override;
  void receive(Rank peer, Tag tag, void* data, Bytes bytes, Ticket ticket) override;
  Outcome wait(std::vector<Ticket>& done, const Deadline& deadline) override;
  Outcome poll(std::vector<Ticket>& done) override;
  bool poll_yields() const override;
  void abandon(std::uint32_t operation) override;
  /// So many calls have tags of their own, and as many persistent ones.
  std::uint32_t sequences() const { return sequences_; }
  /// Messages of operations that were abandoned may still come.
  bool abandoned() const { return abandoned_; }
  /// … on any communicator of this process.
  static bool any_abandoned();
  /// Why it failed.
  int take_error() { return std::exchange(last_error_, MPI_SUCCESS); }

 private:
  struct Posted {
    MPI_Request request;
    Ticket ticket;
    bool receive;
  };

  template <typename Post>
  void in_parts(Bytes bytes, Ticket ticket, bool receive, Post post);
  /// Asks for every operation once; appends the tickets of complete messages.
  void test(std::vector<Ticket>& done);
  void test_any(std::vector<Ticket>& done);
  void test_each(std::vector<Ticket>& done);
  void take_complete(std::size_t i, std::vector<Ticket>& done);
  void note(int error);
  int mpi_tag(Tag tag) const;
  int rank_of(Rank peer) const { return ranks_.empty() ? peer : ranks_[static_cast<std::size_t>(peer)]; }

  MPI_Comm comm_;
  std::vector<int> ranks_;
  int first_tag_ = 0;
  std::uint32_t sequences_;
  int error_ = MPI_SUCCESS;       ///< of what is posted
  int last_error_ = MPI_SUCCESS;  ///< also after abandon()
  bool abandoned_ = false;
  std::vector<Posted> posted_;
  std::vector<MPI_Request> requests_;  ///< of those, while they are tested
};

}  // namespace stretto::transport

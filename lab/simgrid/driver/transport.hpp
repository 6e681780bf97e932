// SPDX-License-Identifier: BSD-3-Clause
//
// Messages over SMPI, in simulated time.
#pragma once

#include <smpi/mpi.h>

#include <vector>

#include "transport/transport.hpp"

namespace stretto::lab {

/// Not transport::MpiTransport: in simulated time a question whether a message has come costs what is set for
/// MPI_Test, while a wait ends exactly when it comes. Deadlines do not matter, for SimGrid itself sees deadlocks.
class SmpiTransport final : public transport::Transport {
 public:
  void send(Rank peer, transport::Tag tag, const void* data, Bytes bytes, transport::Ticket ticket) override {
    MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer, tag.channel, MPI_COMM_WORLD, add(ticket));
  }
  void receive(Rank peer, transport::Tag tag, void* data, Bytes bytes, transport::Ticket ticket) override {
    MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, peer, tag.channel, MPI_COMM_WORLD, add(ticket));
  }
  transport::Outcome wait(std::vector<transport::Ticket>& done, const Deadline&) override {
    if (requests_.empty()) return transport::Outcome::ok;
    int index = 0;
    const int error = MPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &index, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS || index == MPI_UNDEFINED) return transport::Outcome::failed;
    const auto at = static_cast<std::size_t>(index);
    done.push_back(tickets_[at]);
    requests_[at] = requests_.back();
    tickets_[at] = tickets_.back();
    requests_.pop_back();
    tickets_.pop_back();
    return transport::Outcome::ok;
  }

  /// A call that fails ends the simulation.
  void abandon(std::uint32_t) override {}

 private:
  MPI_Request* add(transport::Ticket ticket) {
    tickets_.push_back(ticket);
    return &requests_.emplace_back(MPI_REQUEST_NULL);
  }

  std::vector<MPI_Request> requests_;
  std::vector<transport::Ticket> tickets_;
};

}  // namespace stretto::lab

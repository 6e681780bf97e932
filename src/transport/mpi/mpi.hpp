// SPDX-License-Identifier: BSD-3-Clause
//
// Messages over the program's own MPI, on a private duplicate of the communicator.
#pragma once

#include <vector>

#include "mpi/native.hpp"
#include "transport/transport.hpp"

namespace stretto::transport {

/// `comm` must return its errors (MPI_ERRORS_RETURN) and carry no other messages.
class MpiTransport final : public Transport {
 public:
  void use(MPI_Comm comm) {
    if (!posted_.empty()) give_up();  // of a call that was left by an exception
    comm_ = comm;
    error_ = MPI_SUCCESS;
  }

  void send(Rank peer, int channel, const void* data, Bytes bytes, Ticket ticket) override;
  void receive(Rank peer, int channel, void* data, Bytes bytes, Ticket ticket) override;
  Outcome wait(std::vector<Ticket>& done, const Deadline& deadline) override;
  Outcome poll(std::vector<Ticket>& done) override;
  int error_code() const override { return error_; }

 private:
  struct Posted {
    MPI_Request request;
    Ticket ticket;
    bool receive;
  };

  template <typename Post>
  void in_parts(Bytes bytes, Ticket ticket, bool receive, Post post);
  bool pending(Ticket ticket) const;
  /// Asks for every operation once; appends the tickets of complete messages.
  void test_each(std::vector<Ticket>& done);
  void give_up();

  MPI_Comm comm_{};
  int error_ = MPI_SUCCESS;
  std::vector<Posted> posted_;
};

}  // namespace stretto::transport

// SPDX-License-Identifier: BSD-3-Clause
//
// Messages over the program's own MPI, on a private duplicate of the communicator.
#pragma once

#include <vector>

#include "intercept/native.hpp"
#include "transport/transport.hpp"

namespace stretto::transport {

/// `comm` must return its errors (MPI_ERRORS_RETURN) and carry no other messages.
class MpiTransport final : public Transport {
 public:
  void use(MPI_Comm comm) { comm_ = comm; }

  void send(Rank peer, int channel, const void* data, Bytes bytes, Ticket ticket) override;
  void receive(Rank peer, int channel, void* data, Bytes bytes, Ticket ticket) override;
  Outcome wait(std::vector<Ticket>& done, const Deadline& deadline) override;
  int error_code() const override { return error_; }

 private:
  template <typename Post>
  void in_parts(Bytes bytes, Ticket ticket, Post post);
  bool still_pending(Ticket ticket) const;
  void collect(int completed, std::vector<Ticket>& done);

  MPI_Comm comm_{};
  int error_ = MPI_SUCCESS;
  std::vector<MPI_Request> requests_;
  std::vector<Ticket> tickets_;  // of the requests
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  bool parts_ = false;  // some message is posted in several parts
};

}  // namespace stretto::transport

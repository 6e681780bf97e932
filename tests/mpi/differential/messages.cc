// SPDX-License-Identifier: BSD-3-Clause
#include "messages.hpp"

#include "difference.hpp"

namespace stretto::differential {

using mpi::native;

Message::Message(MPI_Comm comm, int to, int from, int bytes, int tag) : envelope_{from, tag} {
  int me = 0;
  native().Comm_rank(comm, &me);
  sent_ = contents(me, bytes, tag);
  received_.resize(sent_.size());
  native().Irecv(received_.data(), bytes, MPI_BYTE, from, tag, comm, &receive_);
  native().Isend(sent_.data(), bytes, MPI_BYTE, to, tag, comm, &send_);
}

void Message::add_to(std::vector<Pending>& pending) {
  pending.push_back({&send_});
  pending.push_back({&receive_, true, false, true, envelope_, [this] {
                       check();
                       return false;
                     }});
}

std::vector<char> Message::contents(int from, int bytes, int tag) {
  std::vector<char> all(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * 7 + static_cast<std::size_t>(from + tag));
  return all;
}

void Message::check() const {
  if (received_ != contents(envelope_.source, static_cast<int>(received_.size()), envelope_.tag))
    throw Difference{"a message beside them was not received"};
}

}  // namespace stretto::differential

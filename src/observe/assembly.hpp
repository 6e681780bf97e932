// SPDX-License-Identifier: BSD-3-Clause
//
// How rank 0 gets, at the end of the program, what each rank knows.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "execute/observer.hpp"
#include "mpi/native.hpp"
#include "observe/packet.hpp"

namespace stretto::mpi::observe {

/// All ranks of the world, at the end of the program. Collective, in all it does.
class Assembly {
 public:
  Assembly();
  ~Assembly();
  Assembly& operator=(Assembly&&) = delete;

  /// False: the MPI has no room for the communicator.
  bool held() const { return comm_ != constants().comm_null; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  /// On rank 0: each(rank, packet) for every rank in turn, so that not all packets are there at once.
  void collect(Packet mine, const std::function<void(int, Packet)>& each);

  /// What is to be added to this rank's clock to read rank 0's. Zero on rank 0's node, whose clock is the same.
  execute::Nanoseconds clock_offset();

  /// The least of all ranks' values.
  execute::Nanoseconds least(execute::Nanoseconds mine);

 private:
  void send(int to, const void* data, std::size_t bytes);
  void receive(int from, void* data, std::size_t bytes);

  MPI_Comm comm_ = constants().comm_null;
  int rank_ = 0;
  int ranks_ = 1;
};

/// Of the calling process: the host's name, or that of a pretended node.
std::string node_name(int rank);

}  // namespace stretto::mpi::observe

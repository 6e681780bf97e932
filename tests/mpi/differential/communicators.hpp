// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators of all shapes, made and freed along the way.
#pragma once

#include <string>
#include <vector>

#include "mpi/native.hpp"
#include "random.hpp"

namespace stretto::differential {

struct Member {
  MPI_Comm comm;  ///< MPI_COMM_NULL where this process is not in it
  std::string text;
  int rank = 0;
  int ranks = 1;
};

class Communicators {
 public:
  Communicators();
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  /// Frees one and makes another, of the same draws on all processes. Collective over the world.
  void exchange_one(Random& random);
  const Member& pick(Random& random) const;
  const Member& world() const { return all_[0]; }

 private:
  static constexpr std::size_t most = 7;
  Member make(Random& random) const;
  std::vector<Member> all_;  // the world first
};

}  // namespace stretto::differential

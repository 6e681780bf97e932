// SPDX-License-Identifier: BSD-3-Clause
//
// Communicators of all shapes, made and freed along the way.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mpi/native.hpp"
#include "random.hpp"
#include "stretto/graph.hpp"

namespace stretto::differential {

struct Member {
  MPI_Comm comm;  ///< MPI_COMM_NULL where this process is not in it
  std::string text;
  int rank = 0;
  int ranks = 1;
  std::shared_ptr<const Graph> graph = {};  ///< of its topology; null: it has none
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
  /// One with a topology: all processes are in it.
  const Member& pick_with_topology(Random& random) const { return all_[random.percent(50) ? 1 : 2]; }
  const Member& world() const { return all_[0]; }

 private:
  static constexpr std::size_t most = 7;
  Member make(Random& random) const;
  Member make_topology(Random& random) const;
  std::vector<Member> all_;  // the world first, then two with topologies
};

}  // namespace stretto::differential

// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks of a communicator share memory with this one, and the connections to them.
#pragma once

#include <optional>
#include <vector>

#include "execute/observer.hpp"
#include "stretto/rules.hpp"
#include "transport/shm/post.hpp"
#include "transport/shm/process.hpp"

namespace stretto::mpi {

/// The connections of one communicator.
struct NodeView {
  std::vector<transport::shm::Connection*> connections;  ///< by rank; null: other nodes, and myself
  std::vector<Rank> cores;                               ///< by rank: alike for ranks that may run on the same cores
  bool own = false;                                      ///< they serve this communicator only
  bool oversubscribed = false;                           ///< have the ranks of this node fewer cores? On all alike
  KernelCopy kernel_copy = KernelCopy::refused;          ///< likewise
  const Rules* rules = nullptr;                          ///< by which these ranks choose
  std::optional<std::uint32_t> number;                   ///< of their communicator, if they proposed the same one
};

/// The connections to these ranks of the world, if all of them have met before: no rank need ask another then.
std::optional<NodeView> known_neighbours(const std::vector<int>& world);

/// The ranks of the world that share `view` have met.
void remember(const std::vector<int>& world, const NodeView& view);

/// At the end of a communicator.
void leave(const NodeView& view, std::uint32_t communicator);

/// Has a process of the node ended in the middle of its work? Not one that came to MPI_Finalize.
bool someone_died(const NodeView& view);

/// For the other processes of the node: in this one, and in all that it waits for, nothing has moved since then.
void tell_wait(execute::Nanoseconds since, execute::Nanoseconds now);

/// The latest moment of those that the others have told. Nothing: one has told none since `told`.
std::optional<execute::Nanoseconds> others_wait_since(const NodeView& view, execute::Nanoseconds told);

/// What an operation needs to use `view` in the thread of these staging rings.
transport::shm::Neighbours neighbours(const NodeView& view, const transport::shm::StagingRings& rings,
                                      std::uint32_t communicator);

}  // namespace stretto::mpi

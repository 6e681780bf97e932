// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks of a communicator share memory with this one, and the connections to them.
#pragma once

#include <optional>
#include <vector>

#include "mpi/bootstrap.hpp"
#include "mpi/native.hpp"
#include "mpi/translate.hpp"
#include "stretto/rules.hpp"
#include "transport/shm/process.hpp"

namespace stretto::mpi {

/// The connections of one communicator.
struct NodeView {
  std::vector<transport::shm::Connection*> connections;  ///< by rank; null: other nodes, and myself
  bool own = false;                                      ///< they serve this communicator only
  bool oversubscribed = false;                           ///< have the ranks of this node fewer cores? On all alike
  KernelCopy kernel_copy = KernelCopy::refused;          ///< likewise
  const Rules* rules = nullptr;                          ///< by which these ranks choose
  std::optional<std::uint32_t> number;                   ///< of their communicator, if they proposed the same one
};

/// Does what the functions below need of this process alone.
void prepare_node();

/// Not negative, and the same on processes that may share memory: those of one machine, container and, if
/// STRETTO_NODES pretends them, node.
std::int64_t node_id();

/// The connections to these ranks of the world, if all of them have met before: no rank need ask another then.
std::optional<NodeView> known_neighbours(const std::vector<int>& world);

/// All ranks of `node` have the same node_id(), settings and `rules`. Nothing, on all of them alike, if they cannot
/// share memory. `own`: the connections shall serve no other communicator.
std::optional<NodeView> meet_neighbours(Bootstrap& node, bool own, const Rules& rules);

/// Has this node more of the job's ranks than cores, as far as this process has met them, or else its launcher tells?
bool oversubscribed();

/// At the end of a communicator.
void leave(const NodeView& view, std::uint32_t communicator);

/// Has a process of the node ended in the middle of its work? Not one that came to MPI_Finalize.
bool someone_died(const NodeView& view);

/// What this process shares; null: nothing so far.
transport::shm::Segment* segment_at_hand();

/// Before MPI_Finalize: this process ends as it should.
void depart();

/// Memory to send from, for one thread. Ends the program if there is none.
transport::shm::StagingRings take_staging_rings();
void return_staging_rings(const transport::shm::StagingRings& rings);

/// What an operation needs to use `view` in the thread of these staging rings.
transport::shm::Neighbours neighbours(const NodeView& view, const transport::shm::StagingRings& rings);

/// By what is known now of the ranks of this node.
transport::shm::WaitPolicy wait_policy();

}  // namespace stretto::mpi

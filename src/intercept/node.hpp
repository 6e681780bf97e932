// SPDX-License-Identifier: BSD-3-Clause
//
// Which ranks of a communicator share memory with this one, and the ways to them.
#pragma once

#include <optional>
#include <vector>

#include "intercept/native.hpp"
#include "stretto/rules.hpp"
#include "transport/shm/process.hpp"

namespace stretto::intercept {

/// The ways of one communicator.
struct NodeView {
  std::vector<transport::shm::Connection*> connections;  ///< by rank; null: other nodes, and myself
  bool own = false;                                      ///< they serve this communicator only
  bool cores_shared = false;                             ///< have the ranks of this node fewer cores? On all alike
  const Rules* rules = nullptr;                          ///< by which these ranks choose
};

/// By rank of `from` (of an intercommunicator: of its local group), the rank in `to`; MPI_UNDEFINED: it has none.
std::vector<int> translate(MPI_Comm from, MPI_Comm to);

/// The ways to the ranks of `comm`, if all of them have met before: no rank need ask another then.
std::optional<NodeView> known_neighbours(MPI_Comm comm);

/// The ranks of `comm` that are on my node. Collective over `comm`, with the native library's functions; all ranks have
/// the same settings and `rules`. Nothing if there are none, or if memory cannot be shared.
std::optional<NodeView> meet_neighbours(MPI_Comm comm, const Rules& rules);

/// Has this node more of the job's ranks than cores, as far as this process has met them, or else its launcher tells?
bool cores_shared();

/// At the end of a communicator.
void leave(const NodeView& view);

/// Memory to send from, for one thread. Ends the program if there is none.
transport::shm::Rooms take_rooms();
void give_back(const transport::shm::Rooms& rooms);

/// What the engine needs to use `view` in the thread of `rooms`.
transport::shm::Neighbours neighbours(const NodeView& view, const transport::shm::Rooms& rooms);

}  // namespace stretto::intercept

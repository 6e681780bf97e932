// SPDX-License-Identifier: BSD-3-Clause
//
// This process among those of its node: what it shares, and whether it has a core for itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/cores.hpp"
#include "transport/shm/process.hpp"

namespace stretto::mpi {

/// Does what the functions below need of this process alone.
void prepare_node();

/// Not negative, and the same on processes that may share memory: those of one machine, container and, if
/// STRETTO_NODES pretends them, node.
std::int64_t node_id();

/// Made at the first call. Null if this process cannot share memory.
transport::shm::Process* own_process();
/// Why it cannot.
const std::string& why_it_shares_nothing();

/// What this process shares; null: nothing so far.
transport::shm::Segment* segment_at_hand();

/// Before MPI_Finalize: this process ends as it should.
void depart();

/// Of the ranks of this node, the cores that each may use, and `own` of this one: notes if these are too few.
void count_cores(const CoreSet& own, const std::vector<CoreSet>& all);
/// Has this process met more ranks than there are cores for them?
bool cores_are_scarce();
/// Or does its launcher tell?
bool oversubscribed();

/// This process has met the others of its node: what is known of cores now holds.
void have_met();
/// By what is known now of the ranks of this node.
transport::shm::WaitPolicy wait_policy();

/// Of connections to processes of this node, `met` of which meet now. `own`: they serve one communicator.
transport::shm::Capacity capacity_of_connections(std::size_t met, bool own);

/// Memory to send from, for one thread. Ends the program if there is none.
transport::shm::StagingRings take_staging_rings();

}  // namespace stretto::mpi

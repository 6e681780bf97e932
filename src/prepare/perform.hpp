// SPDX-License-Identifier: BSD-3-Clause
//
// Blocking calls: runs what a prepared call asks for, stage by stage.
#pragma once

#include "communicator/communicator.hpp"
#include "prepare/serve.hpp"

namespace stretto::mpi {

Served perform(Communicator& c, const Arguments& arguments);

/// MPI's return code, if the call's plan is in the cache; `left`: or it is known that the native library is to do it.
Served run_cached(MPI_Comm comm, const Arguments& arguments, bool& left);

class PreparedCall;
/// A call that is served by `algorithm`, for which `served` counts.
void count_served(Communicator& c, Counter& served, const Algorithm& algorithm);
/// What `c` allows of it.
void complete_work(const Communicator& c, Function function, const Decision& decision, execute::Work& work);
/// Before the collective of `call` runs: keeps its plan if that may be, else null. Only one that a blocking call keeps
/// samples those that follow.
std::shared_ptr<PlanCache::Cached> keep_plan(Communicator& c, const PreparedCall& call, const execute::Work& work,
                                             bool blocking);
/// Before a kept call: counts it.
void count_again(Communicator& c, PlanCache::Cached& cached);

}  // namespace stretto::mpi

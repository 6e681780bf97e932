// SPDX-License-Identifier: BSD-3-Clause
//
// Blocking calls: runs what a prepared call asks for, stage by stage.
#pragma once

#include "communicator/communicator.hpp"
#include "prepare/serve.hpp"

namespace stretto::intercept {

Served perform(Communicator& c, const Arguments& arguments);

/// MPI's return code, if the call's plan is in the cache.
Served run_cached(MPI_Comm comm, const Arguments& arguments);

class PreparedCall;
/// A call that is served by `decision`.
void count_served(Communicator& c, const Decision& decision);
/// What `c` allows of it.
void complete_work(const Communicator& c, const Decision& decision, execute::Work& work);
/// Before the collective of `call` runs: counts it, and keeps its plan if that may be. `work` is the call's, completed
/// by what this communicator allows.
std::shared_ptr<PlanCache::Cached> count_and_keep(Communicator& c, const PreparedCall& call, execute::Work& work);
/// The same before a kept call.
void count_again(Communicator& c, PlanCache::Cached& cached);

}  // namespace stretto::intercept

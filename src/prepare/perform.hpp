// SPDX-License-Identifier: BSD-3-Clause
//
// Carries out a call that Stretto serves: from a decision and buffers to MPI's return code.
#pragma once

#include "communicator/communicator.hpp"
#include "execute/progress.hpp"

namespace stretto::intercept {

/// What the collectives give the operation besides the schedule (see execute::Work).
struct Job {
  execute::Region input = {};
  execute::Region output = {};
  execute::Layout sizes = execute::Layout::whole(0, 1, 0);
  bool sizes_by_slot = false;
  execute::Element element = {};
  execute::Combiner combiner = {};
  const Origin* origin = nullptr;  ///< of a call that may be kept for replay()
};

/// Counts the call as served and runs it.
int perform(Communicator& c, const Decision& decision, const std::shared_ptr<const Schedule>& schedule,
            Function function, const Job& job);

/// Runs a schedule that prepares a call: the ranks tell each other sizes.
int prepare(Communicator& c, const Schedule& schedule, Function function, const Job& job);

/// What stands in scratch after prepare(), until the next run.
const std::byte* prepared_scratch();

/// Elements of a segment, of a vector of `parts` parts: of each part.
Count segment_of(const Decision& decision, Bytes element_size, Rank parts);

/// Memory for packed data and the like, of this thread, valid until the next call.
execute::Arena& staging();

}  // namespace stretto::intercept

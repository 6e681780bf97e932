// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "simulate/run.hpp"
#include "stretto/simulate.hpp"

namespace stretto::simulation {

/// What the rank of `schedule` does in the run. Of one rank no two events overlap but one within the other.
void trace_rank(const Schedule& schedule, const RoundGraph& graph, const Run& run, const std::vector<Times>& times,
                std::vector<TraceEvent>& events);

}  // namespace stretto::simulation

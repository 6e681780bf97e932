// SPDX-License-Identifier: BSD-3-Clause
//
// The closed formulas: rounds·α + bytes sent·β + bytes combined·γ, with the numbers of an algorithm's record.
#pragma once

#include "stretto/algorithm.hpp"
#include "stretto/machine.hpp"

namespace stretto {

/// The time of a call in seconds, and what of it goes to what along the chain that ends last.
struct Prediction {
  double seconds = 0;
  double latency = 0;    ///< α, and the overheads of messages
  double bandwidth = 0;  ///< bytes on their way or copied
  double reduction = 0;
  double waiting = 0;  ///< for a port, a core or a wire that others use
};

/// What is to be done with an algorithm.
struct Load {
  Bytes bytes = 0;    ///< the whole vector: all parts together
  Bytes segment = 0;  ///< as in Params
  int depth = 2;      ///< as in Params
  Operation operation = {};
};

/// `shape` with the nodes of `placement`, for an algorithm that goes by nodes if neither `shape` nor `params` has any.
Shape placed(const Algorithm& algorithm, Shape shape, const Params& params, const Placement& placement);

/// Blocks are taken as equally large, nodes as those of `placed()`. The algorithm must be suitable.
Prediction formula(const Algorithm& algorithm, const Shape& shape, const Params& params, const Load& load,
                   const Machine& machine, const Placement& placement = {});

/// Why formula() is not the time that the simulation gives, in words; empty if it is.
std::string formula_misses(const Algorithm& algorithm, const Shape& shape, const Load& load, const Machine& machine,
                           const Placement& placement = {}, const Params& params = {});

/// In the schedules of these algorithms no single chain of rounds has most rounds, most bytes and most reductions, for
/// some number of ranks: the sum of the three longest is then more than any rank's time. Null for the others, else
/// the reason.
const char* chains_differ(const Algorithm& algorithm);

}  // namespace stretto

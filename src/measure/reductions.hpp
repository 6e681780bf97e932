// SPDX-License-Identifier: BSD-3-Clause
//
// How fast the kernels of the reductions are on this core, beside each other: for machine files.
#pragma once

#include <vector>

#include "reduce/kernels.hpp"

namespace stretto::measure {

struct Reduction {
  reduce::Op op;
  reduce::Type type;
  double ratio;  ///< its seconds per byte, over those of the sum of f64
};

/// All predefined operators on all types that they are defined for. Takes a second or two.
std::vector<Reduction> measured_reductions();

}  // namespace stretto::measure

// SPDX-License-Identifier: BSD-3-Clause
//
// What an algorithm's file includes. It declares the names of algorithms.def, so that each record has external
// linkage although it is const.
#pragma once

#include "stretto/algorithm.hpp"
#include "stretto/builder.hpp"

namespace stretto::algorithms {

#define ALGORITHM(collective, name) extern const Algorithm collective##_##name;
#include "algorithms/algorithms.def"
#undef ALGORITHM

}  // namespace stretto::algorithms

// SPDX-License-Identifier: BSD-3-Clause
//
// What an algorithm's file includes. Each file is a namespace of its own, so that many can be compiled as one. Here
// their records are declared, which so have external linkage although they are const.
#pragma once

#include "stretto/algorithm.hpp"
#include "stretto/builder.hpp"

namespace stretto::algorithms {

#define ALGORITHM(collective, name) \
  namespace collective##_##name {   \
    extern const Algorithm record;  \
  }
#include "algorithms/algorithms.def"
#undef ALGORITHM

}  // namespace stretto::algorithms

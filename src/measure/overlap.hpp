// SPDX-License-Identifier: BSD-3-Clause
//
// How much of a nonblocking call goes on while the program computes and calls no MPI, as the OSU benchmarks and IMB-NBC
// ask: I… and MPI_Wait alone, a computation of that length alone, and the computation between the two.
#pragma once

#include "measure/compare.hpp"

namespace stretto::measure {

struct OverlapResult {
  std::vector<std::vector<Batch>> native;  ///< of the call, of the computation, of both
  std::vector<std::vector<Batch>> stretto;
  std::string algorithm;
  bool correct;
  double seconds;
};

/// Of a point with nonblocking, synchronised calls. Both libraries take turns. `elsewhere`: the computation takes none
/// of these cores, as if each rank had one of its own for it.
OverlapResult overlap(const Point& point, const Setting& setting, bool elsewhere);

}  // namespace stretto::measure

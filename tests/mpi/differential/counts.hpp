// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace stretto::differential {

/// What was compared.
struct Counts {
  /// For the algorithm of persistent calls that were started together: the library names that of the last.
  static constexpr const char* together = "together";
  /// For algorithms whose schedules files give: "file:PATH" are many names.
  static constexpr const char* file = "file";

  std::int64_t computed = 0;      ///< calls that were not made natively
  std::int64_t shared = 0;        ///< buffers that ranks of the node can read in place, of MPI_Alloc_mem
  std::int64_t native_wrong = 0;  ///< calls whose native result was wrong on this rank
  /// Calls by function and algorithm, "iallgatherv/ring"; "allgatherv/native" for those that were passed on. One of
  /// its ranks counts a call.
  std::map<std::string, std::int64_t> served;
};

/// Collective over the world: a line of JSON with the sums over all ranks.
void report(const Counts& counts);

}  // namespace stretto::differential

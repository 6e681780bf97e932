// SPDX-License-Identifier: BSD-3-Clause
//
// What tells the ranks sizes that not all of them know, before the parts of a gatherv, scatterv, alltoallv or alltoallw
// travel (ARCHITECTURE.md, "Sizes that only two ranks know"): a count of eight bytes from each rank.
#pragma once

#include <string_view>

namespace stretto {

inline constexpr std::string_view gathers_all_sizes = "allgather/bruck";            ///< where all are needed
inline constexpr std::string_view combines_sizes = "allreduce/recursive_doubling";  ///< where one number will do

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace stretto {

using Rank = std::int32_t;   ///< a process of the communicator, 0 … ranks-1
using Block = std::int64_t;  ///< index of a block, or a number of blocks
using Count = std::int64_t;  ///< a number of elements
using Bytes = std::int64_t;

inline constexpr Rank no_rank = -1;

}  // namespace stretto

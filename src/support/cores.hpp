// SPDX-License-Identifier: BSD-3-Clause
//
// Which cores this process may run on, and how much of them.
#pragma once

#include <bitset>
#include <limits>

namespace stretto {

/// A set of cores, in a form that travels between processes.
using CoreSet = std::bitset<1024>;

/// Those of this process's affinity mask.
CoreSet allowed_cores();

/// What the control groups of this process let it use at once, in cores, rounded up.
int core_quota();

inline constexpr int no_quota = std::numeric_limits<int>::max();

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stretto/types.hpp"

namespace stretto {

/// memcpy that leaves nothing of the target in the cache: for targets larger than that, read by nobody soon. Finished
/// on return like any other store.
void copy_streaming(void* to, const void* from, Bytes bytes);

/// Size of the largest cache, shared by cores or not; an assumption where the system does not tell.
Bytes last_level_cache();

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stretto/types.hpp"

namespace stretto {

/// memcpy that leaves nothing of the target in the cache: for targets larger than that, read by nobody soon. Finished
/// on return like any other store.
void copy_non_temporal(void* to, const void* from, Bytes bytes);

/// memcpy from lines that another core has just written: if `from` is aligned to 64 bytes it reads each line once.
/// memcpy goes by lines of the target and may read most lines twice, which takes longer where they are not in this
/// core's cache.
void copy_lines(void* to, const void* from, Bytes bytes);

/// Size of the largest cache, shared by cores or not; an assumption where the system does not tell.
Bytes last_level_cache();
/// What a core has for itself.
Bytes own_cache();

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "transport/shm/load_selector.hpp"
#include "transport/shm/store_selector.hpp"

namespace stretto::transport::shm {

/// How staging rings are written and read. Of one thread.
struct AccessSelectors {
  StoreSelector stores;
  LoadSelector loads;
};

}  // namespace stretto::transport::shm

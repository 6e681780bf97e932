// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels for every processor of the architecture.

#include "reduce/kernels_impl.hpp"

namespace stretto::reduce {

constinit const Table baseline_table = table;

}  // namespace stretto::reduce

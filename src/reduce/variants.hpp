// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels compiled for several instruction sets. All variants give the same bits.
#pragma once

#include <span>
#include <string_view>

#include "reduce/kernels.hpp"

namespace stretto::reduce {

struct Table {
  Kernel at[store_kinds][op_count * type_count];  ///< null where the operator is not defined on the type

  Kernel operator()(Op op, Type type, Stores stores = Stores::cached) const {
    return at[static_cast<int>(stores)][static_cast<int>(op) * type_count + static_cast<int>(type)];
  }
};

struct Variant {
  std::string_view name;
  const Table* table;
  bool supported;  ///< by this processor
};

/// Every variant of this build, the fastest last. The first one, "baseline", is always supported.
std::span<const Variant> variants();

}  // namespace stretto::reduce

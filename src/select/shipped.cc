// SPDX-License-Identifier: BSD-3-Clause
#include "select/shipped.hpp"

#include "stretto/sources.hpp"

namespace stretto {

const Rules& shipped_rules() {
  // Never destroyed: a preloaded program may call MPI until its very end.
  static const Rules& rules = *[] {
    auto* shipped = new Rules;
    shipped->file = shipped_name;
    shipped->compiled = &shipped_table;
    return shipped;
  }();
  return rules;
}

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#include "select/shipped.hpp"

#include "stretto/sources.hpp"

namespace stretto {

const Rules& shipped_rules() {
  // Never destroyed: a preloaded program may call MPI until its very end.
  static const Rules& rules = *new Rules{.file = std::string(shipped_name), .rules = {}, .compiled = &shipped_table};
  return rules;
}

}  // namespace stretto

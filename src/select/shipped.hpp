// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace stretto {

extern const char* const shipped_rules_text;  ///< rules/default.rules as it was when the library was built

}  // namespace stretto

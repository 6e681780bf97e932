// SPDX-License-Identifier: BSD-3-Clause
//
// With what an algorithm is tried: every test and `stretto check` use this one list.
#pragma once

#include <vector>

#include "stretto/algorithm.hpp"

namespace stretto {

struct Variant {
  Shape shape;
  Params params;
};

/// The default first, then other values of its parameter, random lists (skips, orders, radices) and random counts, each
/// where the algorithm takes them; the same ones at every call. Empty if the algorithm is not for so many ranks.
std::vector<Variant> variants(const Algorithm& algorithm, Rank ranks, Rank root = 0);

/// "radix=3", "skips=4:2:1", "counts=0:5:5", "" for the default.
std::string to_text(const Variant& variant, const Algorithm& algorithm);

}  // namespace stretto

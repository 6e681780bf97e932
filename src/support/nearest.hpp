// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace stretto {

/// Letters to insert, leave out, exchange or swap with their neighbour, to make one word of the other.
inline std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(above, row);
  }
  return above.back();
}

/// The word that `wrong` was probably meant to be; empty if none is like it.
template <typename Words>
std::string_view nearest(std::string_view wrong, const Words& words) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(wrong.size() / 3, 1) + 1;
  for (const std::string_view word : words) {
    const std::size_t d = distance(wrong, word);
    if (d >= least) continue;
    least = d;
    best = word;
  }
  return best;
}

}  // namespace stretto

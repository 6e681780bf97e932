// SPDX-License-Identifier: BSD-3-Clause
//
// Allgather by recursive doubling for any number of ranks (Thakur, Rabenseifner and Gropp 2005, section 4.1.1). In an
// aligned subtree of n ranks with m = the power of two below n, the upper n-m ranks meet as many of the lower m, which
// then tell the rest of the lower.
#pragma once

#include <algorithm>
#include <span>

#include "algorithms/patterns/clock.hpp"
#include "algorithms/patterns/powers.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

inline Rank lower_part(Rank n) { return Rank{1} << (ceil_log2(n) - 1); }

/// Ranks base … base+n-1 of an aligned subtree, each with its block in the output, come to know each other's blocks.
inline void recursive_doubling_allgather(Builder& b, Rank base, Rank n) {
  if (n == 1) return;
  const Rank lower = lower_part(n), upper = n - lower;
  const Rank place = b.rank() - base;
  if (place < lower)
    recursive_doubling_allgather(b, base, lower);
  else
    recursive_doubling_allgather(b, base + lower, upper);

  b.round();
  if (place < upper) {
    b.send(b.rank() + lower, output(base, lower));
    b.receive(b.rank() + lower, output(base + lower, upper));
  } else if (place >= lower) {
    b.send(b.rank() - lower, output(base + lower, upper));
    b.receive(b.rank() - lower, output(base, lower));
  }
  for (Rank informed = upper; informed < lower; informed *= 2) {
    b.round();
    if (place < informed && place + informed < lower) b.send(b.rank() + informed, output(base + lower, upper));
    if (place >= informed && place < std::min(2 * informed, lower))
      b.receive(b.rank() - informed, output(base + lower, upper));
  }
}

/// What it costs ranks whose clocks show `clocks`.
inline void recursive_doubling_allgather(std::span<Clock> clocks) {
  const auto n = static_cast<Rank>(clocks.size());
  if (n == 1) return;
  const Rank lower = lower_part(n), upper = n - lower;
  const auto of = [&](Rank place) -> Clock& { return clocks[static_cast<std::size_t>(place)]; };
  recursive_doubling_allgather(clocks.first(static_cast<std::size_t>(lower)));
  recursive_doubling_allgather(clocks.last(static_cast<std::size_t>(upper)));
  for (Rank place = 0; place < upper; ++place) exchange(of(place), of(place + lower), lower);
  for (Rank informed = upper; informed < lower; informed *= 2)
    for (Rank place = 0; place < std::min(informed, lower - informed); ++place)
      tell(of(place), of(place + informed), upper);
}

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// The first half of van de Geijn's broadcast: the root's vector is scattered along a binomial tree.
#pragma once

#include <vector>

#include "algorithms/patterns/clock.hpp"
#include "algorithms/patterns/knomial.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// Place v, counted from the root, gets block v of the root's output, and those below it in the tree. ceil(lg p)
/// rounds, p - 1 blocks.
inline void binomial_bcast_scatter(Builder& b, Rank root) {
  const KnomialPlace place(b, root, 2);
  if (place.v != 0) b.receive(place.parent(), output(place.v, place.subtree()));
  for (std::int64_t step = place.end / 2; step > 0; step /= 2) {
    b.round();
    place.for_each_child(step, [&](Rank child, Rank size) { b.send(place.rank_of(child), output(child, size)); });
  }
}

/// What it costs, by places.
inline std::vector<Clock> binomial_bcast_scatter_clocks(Rank ranks) {
  std::vector<Clock> clocks(static_cast<std::size_t>(ranks));
  for (Rank v = 0; v < ranks; ++v) {
    const KnomialPlace place(v, ranks, 2);
    for (std::int64_t step = place.end / 2; step > 0; step /= 2)
      place.for_each_child(step, [&](Rank child, Rank size) {
        tell(clocks[static_cast<std::size_t>(v)], clocks[static_cast<std::size_t>(child)], size);
      });
  }
  return clocks;
}

}  // namespace stretto::patterns

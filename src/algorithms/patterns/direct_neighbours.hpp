// SPDX-License-Identifier: BSD-3-Clause
//
// Every part goes straight to the neighbour that it is for, all at once. A rank need not know more than its own
// neighbours.
#pragma once

#include <algorithm>
#include <vector>

#include "stretto/algorithm.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// `pairwise`: a part for each neighbour; else the one part of the input goes to all.
inline void direct_neighbours(Builder& b, const Graph& graph, bool pairwise) {
  const Neighbours& near = graph.of(b.rank());
  std::vector<Block> own;  // parts for this rank itself
  for (std::size_t k = 0; k < near.destinations.size(); ++k) {
    const Block part = pairwise ? static_cast<Block>(k) : 0;
    if (near.destinations[k] == b.rank())
      own.push_back(part);
    else if (near.destinations[k] != no_rank)
      b.send(near.destinations[k], input(part));
  }
  std::size_t next = 0;
  for (const Block slot : graph.arrivals(b.rank())) {
    const Rank source = near.sources[static_cast<std::size_t>(slot)];
    if (source == b.rank())
      b.copy(input(own[next++]), output(slot));
    else
      b.receive(source, output(slot));
  }
}

/// The most messages of a rank.
inline std::int64_t most_neighbours(const Shape& shape) {
  const auto graph = graph_of(shape);
  std::int64_t most = 0;
  for (Rank r = 0; r < shape.ranks; ++r)
    for (const auto* near : {&graph->of(r).sources, &graph->of(r).destinations})
      most = std::max<std::int64_t>(most, std::ranges::count_if(*near, [r](Rank n) { return n != r && n != no_rank; }));
  return most;
}

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// Binomial trees. Broadcasts count ranks from the root; the reduction keeps rank order for any root.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/patterns/clock.hpp"
#include "algorithms/patterns/in_order.hpp"
#include "algorithms/patterns/powers.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// My place v in the binomial tree whose root is v = 0: my parent is v less its lowest bit, my children are v plus
/// each smaller power of two.
struct BinomialPlace {
  Rank ranks;
  Rank root;
  Rank v;

  BinomialPlace(const Builder& b, Rank root_rank)
      : ranks(b.ranks()),
        root(root_rank),
        v(modulo(b.rank() - root_rank, b.ranks())) {}
  /// Place `v` of a tree whose root is rank 0.
  BinomialPlace(Rank place, Rank all) : ranks(all), root(0), v(place) {}
  Rank rank_of(Rank place) const { return modulo(place + root, ranks); }
  Rank lowest_bit() const { return v == 0 ? Rank{1} << ceil_log2(ranks) : v & -v; }
  Rank parent() const { return rank_of(v - lowest_bit()); }
  /// Calls `each(child place, size of its subtree)`, largest first.
  template <typename Each>
  void for_each_child(Each each) const {
    for (Rank bit = lowest_bit() / 2; bit > 0; bit /= 2)
      if (v + bit < ranks) each(v + bit, std::min(bit, ranks - v - bit));
  }
};

/// Output block 0 of `root` comes into every output. ceil(log2 p) rounds.
inline void binomial_bcast(Builder& b, Rank root) {
  const BinomialPlace place(b, root);
  if (place.v != 0) {
    b.round();
    b.receive(place.parent(), output(0));
  }
  place.for_each_child([&](Rank child, Rank) {
    b.round();
    b.send(place.rank_of(child), output(0));
  });
}

/// The vector of `root`'s output is scattered: place v gets block v, counted from the root, and those below it in the
/// tree. ceil(log2 p) rounds, p - 1 blocks: the first half of van de Geijn's broadcast.
inline void binomial_bcast_scatter(Builder& b, Rank root) {
  const BinomialPlace place(b, root);
  if (place.v != 0) {
    b.round();
    b.receive(place.parent(), output(place.v, std::min(place.lowest_bit(), b.ranks() - place.v)));
  }
  place.for_each_child([&](Rank child, Rank subtree) {
    b.round();
    b.send(place.rank_of(child), output(child, subtree));
  });
}

/// What it costs, by places.
inline std::vector<Clock> binomial_bcast_scatter_clocks(Rank ranks) {
  std::vector<Clock> clocks(static_cast<std::size_t>(ranks));
  for (Rank v = 0; v < ranks; ++v) {
    const BinomialPlace place(v, ranks);
    place.for_each_child([&](Rank child, Rank subtree) {
      tell(clocks[static_cast<std::size_t>(v)], clocks[static_cast<std::size_t>(child)], subtree);
    });
  }
  return clocks;
}

/// The ranks as they come after the root: with these as a group, ranks are places.
inline std::vector<Rank> from_root(Rank ranks, Rank root) {
  std::vector<Rank> members;
  for (Rank v = 0; v < ranks; ++v) members.push_back(modulo(v + root, ranks));
  return members;
}

/// Block 0 of the inputs is reduced in rank order into the root's output; other ranks' partial results stand in `work`
/// (asked for at most once). ceil(log2 p) rounds.
template <typename Work>
void binomial_reduce(Builder& b, Rank root, Work work) {
  in_order_reduce(b, in_order_knomial(b.rank(), b.ranks(), root, 2), work);
}

}  // namespace stretto::patterns

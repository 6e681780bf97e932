// SPDX-License-Identifier: BSD-3-Clause
//
// Binomial trees. Broadcasts count ranks from the root; the reduction keeps rank order for any root.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/patterns/clock.hpp"
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

/// Block 0 of the inputs is reduced in rank order. At level k the ranks form intervals of 2^k; one rank of each
/// holds its partial result (the root where it belongs, else the lowest), and neighbours are joined. The root's
/// partial results stand in its output, those of other ranks in `work` (asked for at most once).
template <typename Work>
void binomial_reduce(Builder& b, Rank root, Work work) {
  const Rank me = b.rank();
  const auto holder = [&](Rank interval, int k) {
    return root >> k == interval ? root : static_cast<Rank>(interval << k);
  };
  Ranges mine = input(0);
  Ranges target;
  for (int k = 0; (Rank{1} << k) < b.ranks(); ++k) {
    const Rank interval = me >> k;
    const Rank other = interval ^ 1;
    if (other << k >= b.ranks()) continue;
    const Rank peer = holder(other, k);
    b.round();
    if (holder(interval / 2, k + 1) != me) {
      b.send(peer, mine);
      return;
    }
    if (target.empty()) target = me == root ? output(0) : work();
    b.receive_reduce(peer, target, other < interval ? Side::left : Side::right, mine);
    mine = target;
  }
  if (b.ranks() == 1) b.copy(input(0), output(0));
}

/// The most levels at which one rank combines in binomial_reduce.
inline int binomial_reduce_combines(Rank ranks, Rank root) {
  int at_root = 0;
  int at_zero = 0;  // the busiest of the others: it holds [0, 2^k) until the root's interval joins
  for (int k = 0; (Rank{1} << k) < ranks; ++k) {
    if (((root >> k) ^ 1) << k < ranks) ++at_root;
    if (root >> (k + 1) != 0 && Rank{1} << k < ranks) ++at_zero;
  }
  return std::max(at_root, at_zero);
}

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions along trees in which every subtree covers an interval of ranks, so that rank order is kept: a rank takes
// from its children outwards from itself, the lower ones as left operands. The root is any rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "stretto/builder.hpp"

namespace stretto::patterns {

struct InOrderPlace {
  std::vector<std::vector<Rank>> children;  ///< those heard in the first round, in the second, …
  Rank parent = no_rank;                    ///< of the root
};

/// Block 0 of the inputs is reduced into the root's output. Partial results of ranks that have children and a parent
/// stand in `work()`.
template <typename Work>
void in_order_reduce(Builder& b, const InOrderPlace& place, Work work) {
  const bool root = place.parent == no_rank;
  if (root && place.children.empty()) return b.copy(input(0), output(0));
  const Ranges target = root ? output(0) : place.children.empty() ? Ranges{} : work();
  Ranges mine = input(0);
  for (const std::vector<Rank>& now : place.children) {
    b.round();
    for (const Rank child : now) {
      b.receive_reduce(child, target, child < b.rank() ? Side::left : Side::right, mine);
      mine = target;
    }
  }
  if (root) return;
  b.round();
  b.send(place.parent, mine);
}

inline void in_order_reduce(Builder& b, const InOrderPlace& place) {
  in_order_reduce(b, place, [&] { return scratch(b.new_scratch(0, 1)); });
}

/// On level j the ranks form intervals of radix^j; one rank of each holds its partial result: the root where it
/// belongs, else the lowest. `radix` neighbouring intervals are joined in one round.
inline InOrderPlace in_order_knomial(Rank me, Rank ranks, Rank root, std::int64_t radix) {
  InOrderPlace place;
  for (std::int64_t size = 1; size < ranks; size *= radix) {
    const auto holder = [&](std::int64_t interval, std::int64_t n) {
      return root / n == interval ? root : static_cast<Rank>(interval * n);
    };
    const std::int64_t mine = me / size;
    const std::int64_t first = mine - mine % radix;
    const Rank joined = holder(mine / radix, size * radix);
    if (joined != me) {
      place.parent = joined;
      return place;
    }
    std::vector<Rank> now;
    for (std::int64_t i = mine - 1; i >= first; --i) now.push_back(holder(i, size));
    for (std::int64_t i = mine + 1; i < first + radix && i * size < ranks; ++i) now.push_back(holder(i, size));
    if (!now.empty()) place.children.push_back(now);
  }
  return place;
}

/// The lower ranks in one chain and the higher ones in another, the root at the end of both.
inline InOrderPlace in_order_chains(Rank me, Rank ranks, Rank root) {
  if (me < root) return {me > 0 ? std::vector<std::vector<Rank>>{{me - 1}} : std::vector<std::vector<Rank>>{}, me + 1};
  if (me > root)
    return {me + 1 < ranks ? std::vector<std::vector<Rank>>{{me + 1}} : std::vector<std::vector<Rank>>{}, me - 1};
  InOrderPlace place;
  if (root > 0) place.children.push_back({root - 1});
  if (root + 1 < ranks) place.children.push_back({root + 1});
  if (root > ranks - 1 - root) std::reverse(place.children.begin(), place.children.end());  // the shorter one first
  return place;
}

/// The subtree of a rank in an in-order binary tree: ranks first … end-1. `top` is on top of all; every other subtree's
/// root is its middle, the lower one of two.
struct InOrderSubtree {
  Rank first = 0;
  Rank end;
  Rank parent = no_rank;

  InOrderSubtree(Rank rank, Rank ranks, Rank top) : end(ranks) {
    for (Rank at = top; at != rank; at = middle(first, end)) {
      parent = at;
      (rank < at ? end : first) = rank < at ? at : at + 1;
    }
  }
  static Rank middle(Rank first, Rank end) { return first + (end - first - 1) / 2; }
};

/// The lower ranks in one balanced binary tree and the higher ones in another, both below the root.
inline InOrderPlace in_order_binary(Rank me, Rank ranks, Rank root) {
  const InOrderSubtree at(me, ranks, root);
  InOrderPlace place{{}, at.parent};
  if (me > at.first) place.children.push_back({InOrderSubtree::middle(at.first, me)});
  if (me + 1 < at.end) place.children.push_back({InOrderSubtree::middle(me + 1, at.end)});
  if (me - at.first > at.end - me - 1) std::reverse(place.children.begin(), place.children.end());  // the smaller first
  return place;
}

/// Rounds until a rank has heard of two subtrees of x >= y ranks, which take so many rounds themselves.
inline std::int64_t rounds_to_join(Rank x, std::int64_t rounds_x, Rank y, std::int64_t rounds_y) {
  const std::int64_t smaller = y > 0 ? rounds_y + 1 : 0;
  return x > 0 ? std::max(smaller, rounds_x) + 1 : smaller;
}

/// Rounds of in_order_binary's balanced trees of n - 1 and of n ranks.
inline std::pair<std::int64_t, std::int64_t> balanced_rounds(Rank n) {
  if (n <= 1) return {0, 0};
  const Rank half = n / 2;  // a tree of n has subtrees of n/2 and (n-1)/2 ranks
  const auto [below, at] = balanced_rounds(half);
  return n % 2 == 0
             ? std::pair{rounds_to_join(half - 1, below, half - 1, below), rounds_to_join(half, at, half - 1, below)}
             : std::pair{rounds_to_join(half, at, half - 1, below), rounds_to_join(half, at, half, at)};
}

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// Vector halving with distance doubling and its reverse, for a group of 2^k ranks and 2^k blocks, and the fold that
// brings any number of ranks down to 2^k (Rabenseifner 2004, section 3.5; Thakur, Rabenseifner and Gropp 2005, section
// 5.1). Neighbours meet first, so every partial result covers an interval of ranks: rank order is kept.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/patterns/powers.hpp"
#include "stretto/algorithm.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

struct Interval {
  Block first;
  Block count;
};

/// `blocks` of the algorithms that halve the vector among 2^k ranks: as many as these are.
inline Block kept_ranks(const Shape& shape, const Params& = {}) { return floor_power_of_two(shape.ranks); }

/// The blocks that `rank` of a group of 2^k holds after meeting the partners at distances 1, 2, … below `distance`.
inline Interval halved(Rank rank, Rank distance, Block blocks) {
  Interval held{0, blocks};
  for (Rank mask = 1; mask < distance; mask *= 2) {
    held.count /= 2;
    if (rank & mask) held.first += held.count;
  }
  return held;
}

/// Reduces, in the group, what every rank has in `from`, into `work`; each rank ends with one complete block.
inline void halving_reduce_scatter(Builder& b, Buffer from, Buffer work) {
  for (Rank mask = 1; mask < b.ranks(); mask *= 2) {
    const Rank partner = b.rank() ^ mask;
    const Interval keep = halved(b.rank(), 2 * mask, b.blocks());
    const Interval give = halved(partner, 2 * mask, b.blocks());
    const Buffer now = mask == 1 ? from : work;
    b.round();
    b.send(partner, {{now, give.first, give.count}});
    b.receive_reduce(partner, {{work, keep.first, keep.count}}, partner < b.rank() ? Side::left : Side::right,
                     {{now, keep.first, keep.count}});
  }
}

/// The way back among the first `size` ranks: each of them gets all blocks into its output. `also(mask, have)` may add
/// to the round in which partners at distance `mask` meet, each of which then sends its interval `have`.
template <typename Also>
void doubling_allgather(Builder& b, Rank size, Also also) {
  for (Rank mask = size / 2; mask > 0; mask /= 2) {
    const Rank partner = b.rank() ^ mask;
    const Interval have = halved(b.rank(), 2 * mask, b.blocks());
    const Interval get = halved(partner, 2 * mask, b.blocks());
    b.round();
    b.send(partner, output(have.first, have.count));
    b.receive(partner, output(get.first, get.count));
    also(mask, have);
  }
}

/// The way back: every rank of the group gets all blocks into its output.
inline void doubling_allgather(Builder& b) {
  doubling_allgather(b, b.ranks(), [](Rank, Interval) {});
}

/// The way back to one rank of the group: `work` is that rank's output, other ranks' scratch.
inline void doubling_gather(Builder& b, Rank root, Buffer work) {
  for (Rank mask = b.ranks() / 2; mask > 0; mask /= 2) {
    const Rank partner = b.rank() ^ mask;
    const Interval have = halved(b.rank(), 2 * mask, b.blocks());
    const Interval get = halved(partner, 2 * mask, b.blocks());
    b.round();
    if ((b.rank() & mask) != (root & mask)) {
      b.send(partner, {{work, have.first, have.count}});
      return;
    }
    b.receive(partner, {{work, get.first, get.count}});
  }
}

/// The first 2·surplus ranks form pairs (2i, 2i+1); one of each stays in the group, the other is removed. The group has
/// 2^k ranks, or as many as recursive multiplying can use.
struct Fold {
  Rank ranks;
  Rank surplus;
  Rank kept_odd;  ///< this odd rank stays instead of its even neighbour (the root), or no_rank

  Fold(Rank all, Rank root_to_keep) : Fold(all, root_to_keep, floor_power_of_two(all)) {}
  Fold(Rank all, Rank root_to_keep, Rank group)  ///< `group` is at least half of all
      : ranks(all),
        surplus(all - group),
        kept_odd(root_to_keep < 2 * surplus && root_to_keep % 2 == 1 ? root_to_keep : no_rank) {}

  bool paired(Rank r) const { return r < 2 * surplus; }
  bool removed(Rank r) const { return paired(r) && ((r % 2 == 1) != (r == kept_odd || (r ^ 1) == kept_odd)); }
  /// Of a kept rank among those.
  Rank place(Rank r) const { return paired(r) ? r / 2 : r - surplus; }
  Rank kept_at(Rank place) const {
    if (place >= surplus) return place + surplus;
    return 2 * place + (2 * place + 1 == kept_odd ? 1 : 0);
  }
  /// The kept ranks, for in_group().
  Members kept(Rank me) const {
    return {ranks - surplus, removed(me) ? no_rank : place(me), [fold = *this](Rank p) { return fold.kept_at(p); }};
  }
  /// What kept ranks `first` … `first` + `count` - 1 stand for: themselves and the ranks removed next to them.
  Interval stands_for(Rank first, Rank count = 1) const {
    const auto begin = [&](Rank place) { return Block{place} + std::min(place, surplus); };
    return {begin(first), begin(first + count) - begin(first)};
  }
};

/// The fold itself: both ranks of a pair combine half of the vector, then the removed one hands over its half.
/// Kept ranks of pairs have the pair's result in `work` afterwards. 2 rounds, n/2 blocks each.
inline void fold_pairs(Builder& b, const Fold& fold, Buffer work) {
  const Rank me = b.rank();
  if (!fold.paired(me)) return;
  const Rank partner = me ^ 1;
  const Block half = b.blocks() / 2;
  const bool removed = fold.removed(me);
  const Block mine = removed ? half : 0;  // the removed rank combines the upper half
  const Block others = half - mine;
  b.round();
  b.send(partner, input(others, half));
  b.receive_reduce(partner, {{work, mine, half}}, partner < me ? Side::left : Side::right, input(mine, half));
  b.round();
  if (removed)
    b.send(partner, {{work, half, half}});
  else
    b.receive(partner, {{work, half, half}});
}

}  // namespace stretto::patterns

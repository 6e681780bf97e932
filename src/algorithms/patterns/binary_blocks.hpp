// SPDX-License-Identifier: BSD-3-Clause
//
// Binary blocks: the ranks fall into subsets of 2^a, 2^b, … consecutive ranks, a > b > … being the bits of p. Each
// subset reduces by vector halving on its own; then, the smallest first, each hands its result over to the next larger
// one, whose intervals divide its own; on the way back pairs of a larger subset's ranks provide the next smaller one
// (Rabenseifner 2004, section 3.6; Thakur, Rabenseifner and Gropp 2005, section 5.2). Larger subsets have the lower
// ranks and partial results are joined with their neighbour's, so rank order is kept.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/patterns/halving.hpp"

namespace stretto::patterns {

/// Sizes and first ranks of the subsets, largest first.
struct BinaryBlocks {
  std::vector<Rank> size;
  std::vector<Rank> first;
  std::size_t mine = 0;  ///< my subset

  explicit BinaryBlocks(Rank ranks, Rank me = 0) {
    for (Rank begin = 0; begin < ranks;) {
      if (me >= begin) mine = size.size();
      size.push_back(floor_power_of_two(ranks - begin));
      first.push_back(begin);
      begin += size.back();
    }
  }
  bool largest() const { return mine == 0; }
  bool smallest() const { return mine + 1 == size.size(); }
  Rank place(Rank rank) const { return rank - first[mine]; }
  /// `count` ranks from my subset's first one on.
  Members members(Rank me, Rank count) const {
    return {count, place(me), [begin = first[mine]](Rank place) { return begin + place; }};
  }
};

/// Reduces the inputs into `work`: afterwards each rank of the largest subset has its complete block there.
inline void binary_blocks_reduce_scatter(Builder& b, const BinaryBlocks& subsets, Buffer work) {
  const std::size_t s = subsets.mine;
  const Rank place = subsets.place(b.rank());
  b.in_group(subsets.members(b.rank(), subsets.size[s]),
             [&](Builder& group) { halving_reduce_scatter(group, Buffer::input, work); });
  const Buffer now = subsets.size[s] == 1 ? Buffer::input : work;
  if (!subsets.smallest()) {
    const Interval held = halved(place, subsets.size[s], b.blocks());
    const Ranges mine = {{work, held.first, held.count}};
    b.round();
    b.receive_reduce(subsets.first[s + 1] + place % subsets.size[s + 1], mine, Side::right, mine);
  }
  if (subsets.largest()) return;
  b.round();
  for (Rank taker = place; taker < subsets.size[s - 1]; taker += subsets.size[s]) {
    const Interval given = halved(taker, subsets.size[s - 1], b.blocks());
    b.send(subsets.first[s - 1] + taker, {{now, given.first, given.count}});
  }
}

/// The way back: all blocks come into every output.
inline void binary_blocks_allgather(Builder& b, const BinaryBlocks& subsets) {
  const std::size_t s = subsets.mine;
  const Rank size = subsets.size[s];
  const Rank smaller = subsets.smallest() ? 0 : subsets.size[s + 1];
  if (!subsets.largest()) {
    b.round();
    for (const Rank giver : {subsets.place(b.rank()), subsets.place(b.rank()) + size}) {
      const Interval given = halved(giver, 2 * size, b.blocks());
      b.receive(subsets.first[s - 1] + giver, output(given.first, given.count));
    }
  }
  b.in_group(subsets.members(b.rank(), size + smaller), [&](Builder& group) {
    doubling_allgather(group, size, [&](Rank mask, Interval have) {
      if (mask == smaller && group.rank() < 2 * mask)
        group.send(size + group.rank() % mask, output(have.first, have.count));
    });
  });
}

/// Blocks sent, and as many combined, by each subset's ranks until their part of the reduce-scatter is complete. A
/// subset of 2^e ranks waits for the next smaller one, which sends on as many blocks as it has received.
inline std::vector<Block> binary_blocks_sent(const BinaryBlocks& subsets) {
  const Block blocks = subsets.size[0];
  std::vector<Block> sent;
  for (std::size_t s = subsets.size.size(); s-- > 0;) {
    const Block held = blocks / subsets.size[s];
    sent.push_back(sent.empty() ? blocks - held : std::max(blocks - held, sent.back()) + held);
  }
  std::reverse(sent.begin(), sent.end());
  return sent;
}

}  // namespace stretto::patterns

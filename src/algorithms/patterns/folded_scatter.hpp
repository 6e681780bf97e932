// SPDX-License-Identifier: BSD-3-Clause
//
// What the reduce-scatters among 2^k ranks have in common: whole vectors are folded where p is no power of two, kept
// ranks stand for the blocks of their pairs, and the removed ones get their blocks in the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithms/patterns/halving.hpp"

namespace stretto::patterns {

/// Where a rank keeps partial results of blocks, for it has no output but its own block's: that one there, the others
/// in scratch.
class PartialBlocks {
 public:
  /// `blocks`, which hold `own`, in the order in which they are to lie in scratch.
  PartialBlocks(Builder& b, Block own, const std::vector<Block>& blocks)
      : own_(own),
        slot_(static_cast<std::size_t>(b.blocks())) {
    for (const Block block : blocks)
      if (block != own) slot_[static_cast<std::size_t>(block)] = b.new_scratch(block, 1);
  }
  Ranges at(const std::vector<Block>& blocks) const {
    Ranges ranges;
    for (const Block block : blocks)
      ranges.push_back(block == own_ ? Range{Buffer::output, own_, 1}
                                     : Range{Buffer::scratch, slot_[static_cast<std::size_t>(block)], 1});
    return ranges;
  }

 private:
  Block own_;
  std::vector<Block> slot_;
};

inline Ranges input_blocks(const std::vector<Block>& blocks) {
  Ranges ranges;
  for (const Block block : blocks) ranges.push_back({Buffer::input, block, 1});
  return ranges;
}

inline void append(std::vector<Block>& blocks, Interval more) {
  for (Block i = 0; i < more.count; ++i) blocks.push_back(more.first + i);
}

/// Folds, lets the kept ranks reduce among themselves, each what its pair's ranks are to have, and hands over. `need`
/// says for a kept rank which blocks' partial results it will hold, `among` (group, fold, partial results, do they hold
/// something yet?) is the reduction.
template <typename Need, typename Among>
void folded_reduce_scatter(Builder& b, Need need, Among among) {
  const Fold fold(b.ranks(), no_rank);
  const Rank me = b.rank();
  const bool paired = fold.paired(me);
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  if (fold.removed(me)) {
    b.send(me - 1, input(0, b.blocks()));
    b.round();
    return b.receive(me - 1, output(me));
  }
  const Rank place = paired ? me / 2 : me - fold.surplus;
  const PartialBlocks partial(b, me, need(fold, place));
  if (paired) {
    std::vector<Block> all;
    append(all, {0, b.blocks()});
    b.receive_reduce(me + 1, partial.at(all), Side::right, input_blocks(all));
  }
  b.in_group(fold.kept(b.rank()), [&](Builder& group) { among(group, fold, partial, paired); });
  b.round();
  if (paired) b.send(me + 1, partial.at({me + 1}));
}

/// The longest chain through it, where `cost(fold, place, mask)` is what a kept rank adds by meeting its partner.
template <typename Cost>
std::int64_t folded_chain(Rank ranks, Cost cost) {
  const Fold fold(ranks, no_rank);
  std::vector<std::int64_t> clock(static_cast<std::size_t>(ranks - fold.surplus), 0);
  std::fill_n(clock.begin(), fold.surplus, ranks);
  for (std::size_t mask = 1; mask < clock.size(); mask *= 2) {
    std::vector<std::int64_t> next(clock.size());
    for (std::size_t i = 0; i < clock.size(); ++i)
      next[i] = std::max(clock[i], clock[i ^ mask]) + cost(fold, static_cast<Rank>(i), static_cast<Rank>(mask));
    clock = std::move(next);
  }
  return *std::max_element(clock.begin(), clock.end());
}

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// The round-optimal schedule that brings n blocks from one rank to all p along a circulant graph, in n - 1 + q rounds
// with q = ceil(lg p) (Träff, arXiv 2312.11236 and 2407.18004). Run backwards it is a reduction; p of them at once
// are an allgather. Places count from the root: place v is rank (v + root) mod p.
//
// Skips.  S[q] = p, S[k] = ceil(S[k+1] / 2), so S[0] = 1. The rounds go through k = 0 … q-1 again and again; in a round
//   with index k, place v sends to v + S[k] and receives from v - S[k] (mod p), one block at most.
// Base blocks.  Take greedily the largest skip from v until nothing is left: the index of the last one taken is v's
//   base, the first of the blocks 0 … q-1 to reach it. The root has base q.
// Receive schedule.  In q rounds v gets q different blocks: its base block once, else blocks of the q before. For k the
//   entry is the largest base, not yet used by v, among the places v - S[k+1] + 1 … v - S[k], else the base of
//   v - S[k+1]. Base q stands for v's own base block; another base e for e - q, a block of the group before.
//   The papers search for it in O(log p); this simpler rule gives the same tables in O(p).
// Send schedule.  What v sends in round k is what v + S[k] receives in it.
//
// Each time through the q indices the entries rise by q. Entries below 0 are no block, those above the last block mean
// the last one. The first x indices are left out, so that the last round has the last index.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/patterns/circulant.hpp"
#include "algorithms/patterns/powers.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// The schedule of all places. Rounds count from 0; run them downwards, with senders and receivers changed, to reduce.
class CirculantBlocks {
 public:
  using Row = std::vector<std::int64_t>;  ///< one place's entry for every k

  static constexpr Block none = -1;

  CirculantBlocks(Rank ranks, Block blocks)
      : skips_(halved_skips(ranks)),
        blocks_(blocks),
        q_(ceil_log2(ranks)),
        left_out_(q_ == 0 ? 0 : (q_ - (blocks - 1) % q_) % q_),
        base_(static_cast<std::size_t>(ranks), q_) {
    std::reverse(skips_.begin(), skips_.end());
    for (int k = 0; k < q_; ++k) {
      base_of(skip(k)) = k;
      for (Rank v = skip(k) + 1; v < skip(k + 1); ++v) base_of(v) = base_of(v - skip(k));
    }
  }

  static std::int64_t rounds(Rank ranks, Block blocks) { return ranks == 1 ? 0 : blocks - 1 + ceil_log2(ranks); }
  std::int64_t rounds() const { return rounds(ranks(), blocks_); }
  Rank ranks() const { return skips_.back(); }
  Rank skip_of_round(std::int64_t round) const { return skip(static_cast<int>((left_out_ + round) % q_)); }

  /// O(p). The root receives nothing.
  Row receives(Rank place) const {
    Row row(static_cast<std::size_t>(q_), never);
    if (place == 0) return row;
    std::uint64_t used = std::uint64_t{1} << base_of(place);
    for (int k = 0; k < q_; ++k) {
      int best = -1;
      for (Rank distance = skip(k); distance < skip(k + 1); ++distance) {
        const int e = base_of(modulo(place - distance, ranks()));
        if (e > best && (used >> e & 1) == 0) best = e;
      }
      if (best < 0) best = base_of(modulo(place - skip(k + 1), ranks()));
      used |= std::uint64_t{1} << best;
      row[static_cast<std::size_t>(k)] = best == q_ ? base_of(place) : best - q_;
    }
    return row;
  }

  /// O(p log p). Nothing is sent to the root.
  Row sends(Rank place) const {
    Row row;
    for (int k = 0; k < q_; ++k) row.push_back(receives(modulo(place + skip(k), ranks()))[static_cast<std::size_t>(k)]);
    return row;
  }

  /// What a place sends or receives in `round`, or none.
  Block block(const Row& row, std::int64_t round) const {
    const std::int64_t i = left_out_ + round;
    const std::int64_t entry = row[static_cast<std::size_t>(i % q_)] + i / q_ * q_ - left_out_;
    return entry < 0 ? none : std::min<std::int64_t>(entry, blocks_ - 1);
  }

 private:
  static constexpr std::int64_t never = std::int64_t{-1} << 62;

  Rank skip(int k) const { return skips_[static_cast<std::size_t>(k)]; }
  int base_of(Rank place) const { return base_[static_cast<std::size_t>(place)]; }
  int& base_of(Rank place) { return base_[static_cast<std::size_t>(place)]; }

  std::vector<Rank> skips_;  // S[0] … S[q]
  Block blocks_;
  int q_;
  std::int64_t left_out_;  // x
  std::vector<int> base_;
};

/// All blocks of rank 0's output come into every output.
inline void circulant_blocks_bcast(Builder& b) {
  const CirculantBlocks schedule(b.ranks(), b.blocks());
  const CirculantBlocks::Row sends = schedule.sends(b.rank());
  const CirculantBlocks::Row receives = schedule.receives(b.rank());
  for (std::int64_t round = 0; round < schedule.rounds(); ++round) {
    const Rank skip = schedule.skip_of_round(round);
    const Block leaving = schedule.block(sends, round);
    const Block arriving = schedule.block(receives, round);
    b.round();
    if (leaving != CirculantBlocks::none) b.send(modulo(b.rank() + skip, b.ranks()), output(leaving));
    if (arriving != CirculantBlocks::none) b.receive(modulo(b.rank() - skip, b.ranks()), output(arriving));
  }
}

}  // namespace stretto::patterns

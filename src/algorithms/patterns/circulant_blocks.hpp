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
//   The papers search for it otherwise; this rule gives the same tables. Bases repeat: those of the places behind S[k]
//   are those of the places behind 0. So the set of bases of neighbouring places is found in O(log p).
// Send schedule.  What v sends in round k is what v + S[k] receives in it.
//
// Each time through the q indices the entries rise by q. Entries below 0 are no block, those above the last block mean
// the last one. The first x indices are left out, so that the last round has the last index.
#pragma once

#include <algorithm>
#include <bit>
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
        left_out_(q_ == 0 ? 0 : (q_ - (blocks - 1) % q_) % q_) {
    std::reverse(skips_.begin(), skips_.end());
  }

  static std::int64_t rounds(Rank ranks, Block blocks) { return ranks == 1 ? 0 : blocks - 1 + ceil_log2(ranks); }
  std::int64_t rounds() const { return rounds(ranks(), blocks_); }
  Rank ranks() const { return skips_.back(); }
  Rank skip_of_round(std::int64_t round) const { return skip(static_cast<int>((left_out_ + round) % q_)); }

  /// O(log² p). The root receives nothing.
  Row receives(Rank place) const {
    Row row(static_cast<std::size_t>(q_), never);
    fill_in(row, place, q_);
    return row;
  }

  /// O(log³ p). Nothing is sent to the root.
  Row sends(Rank place) const {
    Row row, other(static_cast<std::size_t>(q_));
    for (int k = 0; k < q_; ++k) {
      const auto last = static_cast<std::size_t>(k);
      other[last] = never;
      fill_in(other, modulo(place + skip(k), ranks()), k + 1);
      row.push_back(other[last]);
    }
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

  /// The first `entries` of what `place` receives.
  void fill_in(Row& row, Rank place, int entries) const {
    if (place == 0) return;
    std::uint64_t used = bit(base_of(place));
    for (int k = 0; k < entries; ++k) {
      const std::uint64_t fresh = bases_around(place - skip(k + 1) + 1, place - skip(k)) & ~used;
      const int best = fresh != 0 ? std::bit_width(fresh) - 1 : base_of(modulo(place - skip(k + 1), ranks()));
      used |= bit(best);
      row[static_cast<std::size_t>(k)] = best == q_ ? base_of(place) : best - q_;
    }
  }

  static std::uint64_t bit(int base) { return std::uint64_t{1} << base; }

  /// Of the largest skip that is not above `place`. S[k] is above 2^(k-1), and at most 2^k.
  int largest_skip(Rank place) const {
    const int k = floor_log2(place);
    return skip(k + 1) <= place ? k + 1 : k;
  }

  int base_of(Rank place) const {
    if (place == 0) return q_;
    for (;;) {
      const int k = largest_skip(place);
      if (skip(k) == place) return k;
      place -= skip(k);
    }
  }

  /// A bit for the base of each place first … last, with 1 <= first <= last < p.
  std::uint64_t bases(Rank first, Rank last) const {
    std::uint64_t found = 0;
    for (;;) {
      const int k = largest_skip(last);
      if (skip(k) < first) {
        first -= skip(k);
        last -= skip(k);
        continue;
      }
      found |= bit(k);
      if (last > skip(k)) found |= 2 * bit(largest_skip(last - skip(k))) - 1;  // from place 1 on: all up to the largest
      if (first == skip(k)) return found;
      last = skip(k) - 1;
    }
  }

  /// The same where places are counted modulo p, with -p < first <= last < p.
  std::uint64_t bases_around(Rank first, Rank last) const {
    if (last < 0) return bases(first + ranks(), last + ranks());
    if (first > 0) return bases(first, last);
    return bit(q_) | (last > 0 ? bases(1, last) : 0) | (first < 0 ? bases(first + ranks(), ranks() - 1) : 0);
  }

  std::vector<Rank> skips_;  // S[0] … S[q]
  Block blocks_;
  int q_;
  std::int64_t left_out_;  // x
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

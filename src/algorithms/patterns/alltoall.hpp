// SPDX-License-Identifier: BSD-3-Clause
//
// Schedules of an alltoall. Slot d of the input goes to rank d, slot s of the output comes from rank s. Every scratch
// slot holds one block for its whole life, so that the blocks may be of any size.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/patterns/powers.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// Every block goes straight to its rank: to the rank i further on, from the rank i before, i = 1 … p-1, `window` of
/// them in a round. The own block is copied while the first of them are on their way.
inline void shifted_alltoall(Builder& b, std::int64_t window) {
  const Rank r = b.rank();
  const Rank p = b.ranks();
  b.copy(input(r), output(r));
  for (Rank i = 1; i < p; ++i) {
    if (i > 1 && (i - 1) % window == 0) b.round();
    const Rank to = modulo(r + i, p);
    const Rank from = modulo(r - i, p);
    b.send(to, input(to));
    b.receive(from, output(from));
  }
}

/// Calls `each(weight, shift)` for the rounds of Bruck's algorithm: for every weight 1, k, k², … of a digit and every
/// digit z > 0, the blocks whose distance has that digit go `shift` = z·weight further.
template <typename Each>
void for_each_bruck_round(Rank ranks, std::int64_t radix, Each each) {
  radix = std::min<std::int64_t>(radix, std::max<Rank>(ranks, 2));
  for (std::int64_t weight = 1; weight < ranks; weight *= radix)
    for (std::int64_t shift = weight; shift < std::min<std::int64_t>(weight * radix, ranks); shift += weight)
      each(weight, shift, weight * radix);
}

/// How many distances 0 … p-1 have the digit shift/weight at `weight`; next = weight·k.
inline std::int64_t bruck_blocks(Rank ranks, std::int64_t weight, std::int64_t shift, std::int64_t next) {
  return ranks / next * weight + std::clamp<std::int64_t>(ranks % next - shift, 0, weight);
}

/// Bruck's algorithm for radix k: a block for the rank i further on goes there by the digits of i, lowest first. It is
/// read where the input has it and written where the output wants it, so nothing is rotated.
inline void bruck_alltoall(Builder& b, std::int64_t radix) {
  const Rank r = b.rank();
  const Rank p = b.ranks();
  std::vector<Range> now;  // where the block with distance i, of which this rank has one at a time, stands
  for (Rank i = 0; i < p; ++i) now.push_back({Buffer::input, modulo(r + i, p), 1});
  b.copy(input(r), output(r));
  for_each_bruck_round(p, radix, [&](std::int64_t weight, std::int64_t shift, std::int64_t next) {
    Ranges leaving;
    Ranges arriving;
    for (Rank i = p - 1; i >= shift; --i) {  // downwards: then what comes into the output is one range
      if (i % next / weight != shift / weight) continue;
      Range& slot = now[static_cast<std::size_t>(i)];
      leaving.push_back(slot);
      const Rank source = modulo(r - static_cast<Rank>(i % next), p);
      slot = i < next ? Range{Buffer::output, source, 1}
                      : Range{Buffer::scratch, b.new_scratch(Block{source} * p + modulo(source + i, p), 1), 1};
      arriving.push_back(slot);
    }
    b.round();
    b.send(modulo(r + static_cast<Rank>(shift), p), leaving);
    b.receive(modulo(r - static_cast<Rank>(shift), p), arriving);
  });
}

inline std::int64_t bruck_rounds(Rank ranks, std::int64_t radix) {
  std::int64_t rounds = 0;
  for_each_bruck_round(ranks, radix, [&](std::int64_t, std::int64_t, std::int64_t) { ++rounds; });
  return rounds;
}

/// Blocks that every rank sends: the digits other than 0 of all distances.
inline std::int64_t bruck_sent(Rank ranks, std::int64_t radix) {
  std::int64_t sent = 0;
  for_each_bruck_round(ranks, radix, [&](std::int64_t weight, std::int64_t shift, std::int64_t next) {
    sent += bruck_blocks(ranks, weight, shift, next);
  });
  return sent;
}

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// Reduce-scatter and allgather among an even number of ranks at distances 1, 1, 3, 5, 11, 21, … = |rho(s)|, where
// rho(s) is the sum of (-2)^i for i = 0 … s: in step s even ranks meet r + rho(s), odd ones r - rho(s). Near steps come
// first (Swing, De Sensi et al., arXiv 2401.09356) or last (Bine, arXiv 2508.17311).
//
// Which blocks a rank sends: let rank 0's block spread by the steps in reverse order, each rank taking the first copy
// that it is offered. The partial results of that block go the same tree up, each in its step. The tree of an even
// block is this one rotated, that of an odd one mirrored; so every rank sends p - 1 blocks, also if p is no power of
// two.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/patterns/powers.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

class Swing {
 public:
  Swing(Rank ranks, bool near_first) : ranks_(ranks), step_of_(static_cast<std::size_t>(ranks), never) {
    const int steps = ceil_log2(ranks);
    Rank rho = 1;
    for (int s = 0; s < steps; ++s, rho = 1 - 2 * rho) distance_.push_back(modulo(rho, ranks));
    if (!near_first) std::reverse(distance_.begin(), distance_.end());
    std::vector<Rank> reached{0};
    for (int s = steps; s-- > 0;)
      for (std::size_t i = reached.size(); i-- > 0;) {
        const Rank taker = peer(reached[i], s);
        if (taker == 0 || step_of_[static_cast<std::size_t>(taker)] != never) continue;
        step_of_[static_cast<std::size_t>(taker)] = s;
        reached.push_back(taker);
      }
  }
  int steps() const { return static_cast<int>(distance_.size()); }
  Rank peer(Rank rank, int step) const {
    const Rank distance = distance_[static_cast<std::size_t>(step)];
    return modulo(rank % 2 == 0 ? rank + distance : rank - distance, ranks_);
  }
  /// The step of the reduce-scatter in which `rank` sends its partial result of `block`; never for its own.
  int step_of(Rank rank, Rank block) const {
    return step_of_[static_cast<std::size_t>(modulo(block % 2 == 0 ? rank - block : block - rank, ranks_))];
  }
  std::vector<Block> sent(Rank rank, int step) const {
    std::vector<Block> blocks;
    for (Rank block = 0; block < ranks_; ++block)
      if (step_of(rank, block) == step) blocks.push_back(block);
    return blocks;
  }

 private:
  static constexpr int never = -1;

  Rank ranks_;
  std::vector<Rank> distance_;
  std::vector<int> step_of_;  // of block 0
};

/// Block r of all inputs is reduced into rank r's output, then all blocks come into every output.
inline void swing_allreduce(Builder& b, bool near_first) {
  const Swing swing(b.ranks(), near_first);
  std::vector<Buffer> now(static_cast<std::size_t>(b.ranks()), Buffer::input);  // where the partial results are
  const auto ranges = [&](const std::vector<Block>& blocks) {
    Ranges list;
    for (const Block block : blocks) list.push_back({now[static_cast<std::size_t>(block)], block, 1});
    return list;
  };
  for (int s = 0; s < swing.steps(); ++s) {
    const Rank peer = swing.peer(b.rank(), s);
    const std::vector<Block> arriving = swing.sent(peer, s);
    const Ranges operand = ranges(arriving);
    b.round();
    b.send(peer, ranges(swing.sent(b.rank(), s)));
    for (const Block block : arriving) now[static_cast<std::size_t>(block)] = Buffer::output;
    b.receive_reduce(peer, ranges(arriving), peer < b.rank() ? Side::left : Side::right, operand);
  }
  now.assign(now.size(), Buffer::output);
  for (int s = swing.steps(); s-- > 0;) {
    const Rank peer = swing.peer(b.rank(), s);
    b.round();
    b.send(peer, ranges(swing.sent(peer, s)));
    b.receive(peer, ranges(swing.sent(b.rank(), s)));
  }
}

}  // namespace stretto::patterns

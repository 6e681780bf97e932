// SPDX-License-Identifier: BSD-3-Clause
//
// Everybody talks straight to everybody: one round, whatever the number of ranks. Best where a round costs much and a
// message little, as in the shared memory of a node. A rank begins with the one after it, so that not all at once turn
// to the same.
#pragma once

#include "algorithms/patterns/powers.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// Calls `each(to, from)` for the other ranks: i further on and i before, i = 1 … p-1.
template <typename Each>
void for_each_other(const Builder& b, Each each) {
  for (Rank i = 1; i < b.ranks(); ++i) each(modulo(b.rank() + i, b.ranks()), modulo(b.rank() - i, b.ranks()));
}

/// New scratch for as many blocks as `blocks`, of the input or output, are.
inline Ranges scratch_for(Builder& b, const Ranges& blocks) {
  Block first = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block slot = b.new_scratch(blocks[i].first, blocks[i].count);
    if (i == 0) first = slot;
  }
  return scratch(first, blocks_in(blocks));
}

/// target = x0 ∘ x1 ∘ … ∘ x(end-1), from left to right, hence the same expression wherever it is formed. `own`, of the
/// input, is mine of these if my rank is below `end`; the others arrive in this round. Partial results stand in
/// scratch: only the last action writes a `target` outside of it, which in place is `own`, and may be on its way.
inline void combine_in_rank_order(Builder& b, Rank end, const Ranges& own, const Ranges& target) {
  if (end == 0) return;
  const Rank me = b.rank();
  Ranges partial = target[0].buffer == Buffer::scratch ? target : Ranges{};
  const auto in_scratch = [&] {
    if (partial.empty()) partial = scratch_for(b, own);
    return partial;
  };
  const auto sum_to = [&](Rank rank) { return rank + 1 == end ? target : in_scratch(); };
  const bool second = me == 1 && end > 1;
  Ranges sum = own;
  if (second)
    b.receive_reduce(0, sum = sum_to(1), Side::left, own);
  else if (me > 0)
    b.receive(0, sum = in_scratch());  // which may land before the own block has left
  for (Rank rank = second ? 2 : 1; rank < end; ++rank) {
    const Ranges next = sum_to(rank);
    if (rank == me)
      b.reduce(sum, next, Side::left, own);
    else
      b.receive_reduce(rank, next, Side::right, sum);
    sum = next;
  }
  b.copy(sum, target);  // a single contribution
}

/// Block r of all inputs is combined in rank order into `own` of rank r.
inline void direct_reduce_scatter(Builder& b, const Ranges& own) {
  for_each_other(b, [&](Rank to, Rank) { b.send(to, input(to)); });
  combine_in_rank_order(b, b.ranks(), input(b.rank()), own);
}

/// Every rank's block in `own` comes into all other ranks' outputs.
inline void direct_allgather(Builder& b, const Ranges& own) {
  for_each_other(b, [&](Rank to, Rank from) {
    b.send(to, own);
    b.receive(from, output(from));
  });
}

}  // namespace stretto::patterns

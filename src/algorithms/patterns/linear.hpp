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

/// target = x0 ∘ x1 ∘ … ∘ x(end-1), from left to right, hence the same expression wherever it is formed. `own`, one
/// block, is mine of these if my rank is below `end`; the others arrive in this round. Partial results stand in
/// scratch: only the last action writes a `target` outside of it, which in place is `own`.
inline void combine_in_rank_order(Builder& b, Rank end, const Ranges& own, const Ranges& target) {
  const Rank me = b.rank();
  Ranges partial;
  const auto sum_to = [&](Rank rank) {
    if (rank + 1 == end || target[0].buffer == Buffer::scratch) return target;
    if (partial.empty()) partial = scratch(b.new_scratch(own[0].first, 1));
    return partial;
  };
  if (end == 0) return;
  if (end == 1 && me == 0) return b.copy(own, target);
  const bool second = me == 1 && end > 1;
  Ranges sum = me == 0 ? own : sum_to(second ? 1 : 0);
  if (second)
    b.receive_reduce(0, sum, Side::left, own);
  else if (me > 0)
    b.receive(0, sum);
  for (Rank rank = second ? 2 : 1; rank < end; ++rank) {
    const Ranges next = sum_to(rank);
    if (rank == me)
      b.reduce(sum, next, Side::left, own);
    else
      b.receive_reduce(rank, next, Side::right, sum);
    sum = next;
  }
}

/// The same for block 0 of the inputs, into the output, where the round also sends that block: in place it is the
/// output, which is therefore written in a round of its own.
inline void combine_what_is_sent(Builder& b, Rank end) {
  if (end == 0) return;
  if (end == 1 && b.rank() == 0) {
    b.round();
    return b.copy(input(0), output(0));
  }
  const Ranges sum = scratch(b.new_scratch(0, 1));
  combine_in_rank_order(b, end, input(0), sum);
  b.round();
  b.copy(sum, output(0));
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

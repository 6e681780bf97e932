// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/patterns/powers.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// In round i every rank sends its part of a block straight to the block's owner, i ranks further on. Block r of all
/// inputs is reduced into `own` of rank r, which combines r, r-1, …, 0, p-1, …, r+1.
inline void pairwise_reduce_scatter(Builder& b, const Ranges& own) {
  const Rank r = b.rank();
  const Rank p = b.ranks();
  for (Rank i = 1; i < p; ++i) {
    const Rank owner = modulo(r + i, p);
    b.round();
    b.send(owner, input(owner));
    b.receive_reduce(modulo(r - i, p), own, Side::left, i == 1 ? input(r) : own);
  }
}

}  // namespace stretto::patterns

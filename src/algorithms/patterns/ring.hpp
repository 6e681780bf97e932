// SPDX-License-Identifier: BSD-3-Clause
//
// Walks around a ring of all ranks. Place v of the ring is rank (v + origin) mod p; block v belongs to place v.
#pragma once

#include "algorithms/patterns/powers.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

struct Ring {
  Rank ranks;
  Rank origin;
  Rank place;  ///< mine

  Ring(const Builder& b, Rank origin_rank)
      : ranks(b.ranks()),
        origin(origin_rank),
        place(modulo(b.rank() - origin_rank, b.ranks())) {}
  Rank next() const { return modulo(place + 1 + origin, ranks); }
  Rank prev() const { return modulo(place - 1 + origin, ranks); }
  Block block(Rank shift) const { return modulo(place + shift, ranks); }  ///< of the place `shift` further on
};

/// Every place has its own block in `own`; afterwards all blocks stand in every output. p - 1 rounds.
inline void ring_allgather(Builder& b, const Ring& ring, Buffer own) {
  b.round();
  for (Rank t = 0; t < ring.ranks - 1; ++t) {
    const Block leaving = ring.block(-t);
    if (t > 0) b.round();
    b.send(ring.next(), {{t == 0 ? own : Buffer::output, leaving, 1}});
    b.receive(ring.prev(), output(ring.block(-t - 1)));
  }
}

/// Reduces the inputs: afterwards every place has its own block complete in the output. p - 1 rounds; a partial
/// result walks once around, so the operands are not in rank order.
inline void ring_reduce_scatter(Builder& b, const Ring& ring) {
  for (Rank t = 0; t < ring.ranks - 1; ++t) {
    const Block leaving = ring.block(-t - 1);
    const Block arriving = ring.block(-t - 2);
    b.round();
    b.send(ring.next(), t == 0 ? input(leaving) : output(leaving));
    b.receive_reduce(ring.prev(), output(arriving), Side::left, input(arriving));
  }
}

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// Walks around a ring of all ranks. Place v of the ring is rank (v + origin) mod p; block v belongs to place v.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "algorithms/patterns/powers.hpp"
#include "stretto/algorithm.hpp"
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

/// The call's own order of the ranks around the ring, or rank order.
inline std::vector<Rank> given_order(Rank ranks, const std::vector<Rank>& list) {
  if (!list.empty()) return list;
  std::vector<Rank> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// `misfit` of an algorithm that takes the list "order".
inline std::string order_misfit(const Shape& shape, const Params& params) {
  std::vector<Rank> sorted = given_order(shape.ranks, params.list);
  std::sort(sorted.begin(), sorted.end());
  return sorted == given_order(shape.ranks, {}) ? "" : "the order does not name every rank once";
}

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

/// Both, one after the other: allreduce of p blocks.
inline void ring_allreduce(Builder& b) {
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  const Ring ring(b, 0);
  ring_reduce_scatter(b, ring);
  ring_allgather(b, ring, Buffer::output);
}

}  // namespace stretto::patterns

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

/// A ring in an order of its own: block r belongs to rank r, wherever it stands.
struct OrderedRing {
  Rank ranks;
  Rank place;  ///< mine
  std::vector<Rank> order;

  OrderedRing(const Builder& b, const std::vector<Rank>& list) : ranks(b.ranks()), order(given_order(b.ranks(), list)) {
    place = static_cast<Rank>(std::ranges::find(order, b.rank()) - order.begin());
  }
  Rank next() const { return rank_at(1); }
  Rank prev() const { return rank_at(-1); }
  Block block(Rank shift) const { return rank_at(shift); }
  Rank rank_at(Rank shift) const { return order[static_cast<std::size_t>(modulo(place + shift, ranks))]; }
  /// Mine, if the ring is cut open so that `first` stands at its beginning.
  Rank place_from(Rank first) const {
    return modulo(place - static_cast<Rank>(std::ranges::find(order, first) - order.begin()), ranks);
  }
};

/// `misfit` of an algorithm that takes the list "order".
inline std::string order_misfit(const Shape& shape, const Params& params) {
  std::vector<Rank> sorted = given_order(shape.ranks, params.list);
  std::sort(sorted.begin(), sorted.end());
  return sorted == given_order(shape.ranks, {}) ? "" : "the order does not name every rank once";
}

/// Every place has its own block in `own`; afterwards all blocks stand in every output. p - 1 rounds.
template <typename AnyRing>
void ring_allgather(Builder& b, const AnyRing& ring, Buffer own) {
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

/// The same where the output has room for the own block only; the partial results of the others rest in scratch.
inline void ring_reduce_scatter_parts(Builder& b, const OrderedRing& ring) {
  Ranges leaving = input(ring.block(-1));
  for (Rank t = 0; t < ring.ranks - 1; ++t) {
    const Block arriving = ring.block(-t - 2);
    const bool last = t == ring.ranks - 2;
    const Ranges target = last ? output(arriving) : scratch(b.new_scratch(arriving, 1));
    b.round();
    b.send(ring.next(), leaving);
    b.receive_reduce(ring.prev(), target, Side::left, input(arriving));
    leaving = target;
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

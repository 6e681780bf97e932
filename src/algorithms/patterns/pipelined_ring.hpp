// SPDX-License-Identifier: BSD-3-Clause
//
// A ring around which parts of different numbers of blocks walk (see allgather/pipelined_ring). Every rank sends its
// own blocks, last one first, then those that come in, in their order; in each round the next one, if it has it by
// then.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "stretto/builder.hpp"
#include "stretto/collective.hpp"

namespace stretto::patterns {

class PipelinedRing {
 public:
  using Place = std::size_t;

  /// In this order. Where none is given, nodes that have blocks stand equidistantly among those that have none, and in
  /// a node the ranks that have some last, so that it sends to the next one at once.
  PipelinedRing(const Parts& parts, const Shape& shape, const std::vector<Rank>& order) {
    for (const Rank r : order) add(r, parts);
    if (!order.empty()) return;
    const auto holds = [&](Rank r) { return parts.begin(r) < parts.end(r); };
    std::vector<std::vector<Rank>> holders, others;
    for (std::vector<Rank>& node : nodes_of(shape)) {
      std::ranges::stable_partition(node, [&](Rank r) { return !holds(r); });
      (holds(node.back()) ? holders : others).push_back(std::move(node));
    }
    const auto add_all = [&](const std::vector<Rank>& node) {
      for (const Rank r : node) add(r, parts);
    };
    std::size_t placed = 0;
    for (std::size_t h = 0; h < holders.size(); ++h) {
      add_all(holders[h]);
      for (; placed < (h + 1) * others.size() / holders.size(); ++placed) add_all(others[placed]);
    }
  }

  bool silent() const { return order_.size() < 2 || total() == 0; }
  Rank rank_at(Place place) const { return order_[place]; }
  Place place_of(Rank rank) const {
    return static_cast<Place>(std::find(order_.begin(), order_.end(), rank) - order_.begin());
  }
  Place next(Place place) const { return (place + 1) % order_.size(); }
  Place prev(Place place) const { return (place + order_.size() - 1) % order_.size(); }
  /// The n-th block that `place` receives from the one before it.
  Block received(Place place, Block n) const {
    const Block at = first_[place] - 1 - n;
    return blocks_[static_cast<std::size_t>(at < 0 ? at + total() : at)];
  }

  /// Calls `each(sends)` for each round; sends[place] is whether a place sends in it. O(ranks · rounds).
  template <typename Each>
  void for_each_round(Each each) const {
    std::vector<Block> sent(order_.size(), 0);
    std::vector<char> sends(order_.size());
    for (bool busy = true; busy;) {
      busy = false;
      for (Place x = 0; x < order_.size(); ++x) {
        sends[x] = sent[x] < total() - own(next(x)) && sent[x] < own(x) + sent[prev(x)];
        busy = busy || sends[x];
      }
      if (busy) each(sends);
      for (Place x = 0; x < order_.size(); ++x) sent[x] += sends[x];
    }
  }

  /// Along the longest chain, that is without the rounds in which a rank has nothing to do.
  std::int64_t rounds() const {
    if (silent()) return 0;
    std::vector<std::int64_t> now(order_.size(), 0), before;
    for_each_round([&](const std::vector<char>& sends) {
      before = now;
      for (Place x = 0; x < order_.size(); ++x) {
        if (sends[prev(x)]) now[x] = std::max(now[x], before[prev(x)]);
        if (sends[prev(x)] || sends[x]) ++now[x];
      }
    });
    return *std::max_element(now.begin(), now.end());
  }

 private:
  /// Each rank alone where nothing is known of nodes, or all share one: there no way is narrower than the others.
  static std::vector<std::vector<Rank>> nodes_of(const Shape& shape) {
    std::map<Rank, std::size_t> known;
    std::vector<std::vector<Rank>> nodes;
    for (Rank r = 0; r < shape.ranks && !shape.nodes.empty(); ++r) {
      const std::size_t at = known.try_emplace(shape.nodes[static_cast<std::size_t>(r)], nodes.size()).first->second;
      if (at == nodes.size()) nodes.emplace_back();
      nodes[at].push_back(r);
    }
    if (nodes.size() > 1) return nodes;
    nodes.clear();
    for (Rank r = 0; r < shape.ranks; ++r) nodes.push_back({r});
    return nodes;
  }
  Block total() const { return static_cast<Block>(blocks_.size()); }
  Block own(Place place) const { return (place + 1 < order_.size() ? first_[place + 1] : total()) - first_[place]; }
  void add(Rank rank, const Parts& parts) {
    order_.push_back(rank);
    first_.push_back(total());
    for (Block b = parts.begin(rank); b < parts.end(rank); ++b) blocks_.push_back(b);
  }

  std::vector<Rank> order_;    // place → rank
  std::vector<Block> first_;   // place → index of its first block in blocks_
  std::vector<Block> blocks_;  // as they lie around the ring
};

/// Every rank's part of the inputs comes into every output.
inline void pipelined_ring_allgather(Builder& b, const Shape& shape, const Parts& parts,
                                     const std::vector<Rank>& order) {
  const Block own = parts.begin(b.rank());
  b.copy(input(own, parts.end(b.rank()) - own), output(own, parts.end(b.rank()) - own));
  const PipelinedRing ring(parts, shape, order);
  if (ring.silent()) return;
  const PipelinedRing::Place me = ring.place_of(b.rank());
  const PipelinedRing::Place prev = ring.prev(me);
  Block sent = 0, received = 0;
  ring.for_each_round([&](const std::vector<char>& sends) {
    b.round();
    if (sends[me]) b.send(ring.rank_at(ring.next(me)), output(ring.received(ring.next(me), sent++)));
    if (sends[prev]) b.receive(ring.rank_at(prev), output(ring.received(me, received++)));
  });
}

}  // namespace stretto::patterns

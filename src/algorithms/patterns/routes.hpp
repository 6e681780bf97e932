// SPDX-License-Identifier: BSD-3-Clause
//
// Neighbourhood collectives in which blocks travel by way of other ranks, in steps: all that goes from one rank to
// another in a step is one message. What a rank sends to all its neighbours alike goes to each rank once.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "algorithms/patterns/powers.hpp"
#include "stretto/algorithm.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// A block, or the one block that a rank has for all its neighbours.
struct Parcel {
  Block block;
  Rank source;
  Block slot;                      ///< of the source's input
  std::vector<Rank> destinations;  ///< others than the source
};

/// All of them, by source and slot.
template <typename Each>
void for_each_parcel(const Graph& graph, Collective collective, Each each) {
  const bool pairwise = facts(collective).pairwise;
  Parcel parcel{};
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const std::vector<Rank>& to = graph.of(r).destinations;
    parcel = {r, r, 0, {}};
    for (Block slot = 0; slot < static_cast<Block>(to.size()); ++slot) {
      const Rank rank = to[static_cast<std::size_t>(slot)];
      if (rank != no_rank && rank != r) parcel.destinations.push_back(rank);
      if (!pairwise) continue;
      parcel.slot = slot;
      parcel.block = r * graph.slots() + slot;
      if (!parcel.destinations.empty()) each(parcel);
      parcel.destinations.clear();
    }
    if (!pairwise && !parcel.destinations.empty()) each(parcel);
  }
}

/// As for_each_hop(), for one destination. No route passes a rank twice.
template <typename Route, typename Each>
void for_each_hop_to_one(const Parcel& parcel, int steps, const Route& route, Each each) {
  Rank from = parcel.source;
  for (int step = 1; step <= steps; ++step) {
    const Rank to = step == steps ? parcel.destinations[0] : route(parcel.source, parcel.destinations[0], step);
    if (to != from) each(step, from, to);
    from = to;
  }
}

/// Where a parcel goes. A route says where one for `destination` is after `step` steps, 1 … steps; then it is there.
template <typename Route, typename Each>
void for_each_hop(const Parcel& parcel, int steps, const Route& route, Each each) {
  if (parcel.destinations.size() == 1) return for_each_hop_to_one(parcel, steps, route, each);
  struct Hop {
    Rank to, from;
    auto operator<=>(const Hop&) const = default;
  };
  std::vector<Rank> holders{parcel.source};  // in order
  std::vector<Hop> hops;
  for (int step = 1; step <= steps; ++step) {
    hops.clear();
    for (const Rank destination : parcel.destinations) {
      const Rank from = step == 1 ? parcel.source : route(parcel.source, destination, step - 1);
      const Rank to = step == steps ? destination : route(parcel.source, destination, step);
      // Else it stays, or has been there.
      if (to != from && !std::ranges::binary_search(holders, to)) hops.push_back({to, from});
    }
    std::ranges::sort(hops);
    hops.erase(std::ranges::unique(hops, {}, &Hop::to).begin(), hops.end());
    for (const Hop& hop : hops) {
      holders.push_back(hop.to);
      each(step, hop.from, hop.to);
    }
    std::ranges::sort(holders);
  }
}

/// Of one rank: from whom and to whom in each step, and what.
class Itinerary {
 public:
  Itinerary(Builder& b, const Graph& graph, Collective collective, int steps)
      : b_(b),
        graph_(graph),
        pairwise_(facts(collective).pairwise),
        sends_(static_cast<std::size_t>(steps)),
        receives_(static_cast<std::size_t>(steps)) {}

  template <typename Route>
  void add(const Parcel& parcel, int steps, const Route& route) {
    Ranges here = parcel.source == b_.rank() ? input(parcel.slot) : Ranges{};
    for_each_hop(parcel, steps, route, [&](int step, Rank from, Rank to) {
      const auto i = static_cast<std::size_t>(step - 1);
      if (to == b_.rank()) {
        here = place(parcel);
        append(receives_[i][modulo(b_.rank() - from, b_.ranks())], here);
      }
      if (from == b_.rank()) append(sends_[i][modulo(to - b_.rank(), b_.ranks())], here);
    });
  }

  void write() {
    copy_own();
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      b_.round();
      for (const auto& [distance, blocks] : sends_[i]) b_.send(modulo(b_.rank() + distance, b_.ranks()), blocks);
      for (const auto& [distance, blocks] : receives_[i]) b_.receive(modulo(b_.rank() - distance, b_.ranks()), blocks);
    }
    if (!pairwise_) copy_repeated();
  }

 private:
  static void append(Ranges& ranges, const Ranges& more) { ranges.insert(ranges.end(), more.begin(), more.end()); }

  /// Where a parcel that arrives is to stand: in the first part of the output that it is for, if there is one.
  Ranges place(const Parcel& parcel) {
    const std::vector<Rank>& sources = graph_.of(b_.rank()).sources;
    for (std::size_t slot = 0; slot < sources.size(); ++slot) {
      if (sources[slot] != parcel.source) continue;
      const auto at = static_cast<Block>(slot);
      if (!pairwise_ || graph_.source(b_.rank(), at).slot == parcel.slot) return output(at);
    }
    return scratch(b_.new_scratch(parcel.block, 1));
  }

  void copy_own() {
    const std::vector<Rank>& sources = graph_.of(b_.rank()).sources;
    for (std::size_t slot = 0; slot < sources.size(); ++slot)
      if (sources[slot] == b_.rank()) {
        const auto at = static_cast<Block>(slot);
        b_.copy(input(pairwise_ ? graph_.source(b_.rank(), at).slot : 0), output(at));
      }
  }

  void copy_repeated() {
    b_.round();
    const std::vector<Rank>& sources = graph_.of(b_.rank()).sources;
    for (std::size_t slot = 0; slot < sources.size(); ++slot) {
      const auto first = static_cast<Block>(std::ranges::find(sources, sources[slot]) - sources.begin());
      if (sources[slot] != no_rank && sources[slot] != b_.rank())
        b_.copy(output(first), output(static_cast<Block>(slot)));
    }
  }

  Builder& b_;
  const Graph& graph_;
  bool pairwise_;
  std::vector<std::map<Rank, Ranges>> sends_,
      receives_;  // of each step, by distance of the peer: not all begin with one
};

/// The schedule of an algorithm with that route.
template <typename Route>
void build_routes(Builder& b, const Graph& graph, Collective collective, int steps, const Route& route) {
  Itinerary mine(b, graph, collective, steps);
  for_each_parcel(graph, collective, [&](const Parcel& parcel) { mine.add(parcel, steps, route); });
  mine.write();
}

/// What no chain of rounds exceeds: steps with a message, and in each the most blocks of a rank.
struct RouteCost {
  std::int64_t rounds = 0, sent = 0;
};

template <typename Route>
RouteCost route_cost(const Graph& graph, Collective collective, int steps, const Route& route) {
  struct Load {
    std::int64_t out = 0, in = 0;
  };
  std::vector<std::vector<Load>> loads(static_cast<std::size_t>(steps));
  for_each_parcel(graph, collective, [&](const Parcel& parcel) {
    for_each_hop(parcel, steps, route, [&](int step, Rank from, Rank to) {
      auto& of_step = loads[static_cast<std::size_t>(step - 1)];
      of_step.resize(static_cast<std::size_t>(graph.ranks()));
      ++of_step[static_cast<std::size_t>(from)].out;
      ++of_step[static_cast<std::size_t>(to)].in;
    });
  });
  RouteCost cost;
  for (const auto& of_step : loads) {
    std::int64_t most = 0;
    for (const Load& load : of_step) most = std::max({most, load.out, load.in});
    cost.rounds += most > 0 ? 1 : 0;
    cost.sent += most;
  }
  return cost;
}

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// Lanes (lanes.hpp) for vectors that have a block for each rank. The lane of an owner has the blocks of the units whose
// places are its own modulo the number of owners: units in further places hand theirs to an owner.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "algorithms/patterns/lanes.hpp"

namespace stretto::patterns {

/// What a rank has to do with others on one level. Blocks bear the numbers of their ranks.
struct BundleLevel {
  std::vector<Rank> ranks;  ///< of its group, in the order of their places
  Rank place;               ///< mine
  Rank owners;
  std::vector<std::vector<Rank>> parts;  ///< of each owner: the blocks of its lane, those of all other groups with them
  std::vector<std::vector<Rank>> units;  ///< of each place: the blocks of its unit

  bool owner() const { return place < owners; }
};

/// The levels on which `rank` takes part, the innermost first: all on which it is an owner, and one more.
inline std::vector<BundleLevel> bundle_levels(const Shape& shape, const Params& params, Rank rank) {
  const Nodes nodes(shape.ranks, params.list, 0);
  std::vector<BundleLevel> levels;
  std::vector<Rank> places;
  std::vector<Rank> lane(static_cast<std::size_t>(shape.ranks));  // whose blocks are in my lane
  for (Rank r = 0; r < shape.ranks; ++r) lane[static_cast<std::size_t>(r)] = r;
  for (int level = 0; level < nodes.levels(); ++level) {
    const Rank unit = nodes.unit(level, rank);
    const Rank n = owners(nodes, level, params.value);
    BundleLevel at{lane_ranks(nodes, level, unit, places), nodes.place(level, unit), n, {}, {}};
    at.parts.resize(static_cast<std::size_t>(n));
    at.units.resize(at.ranks.size());
    for (const Rank r : lane) {
      const Rank its = nodes.unit(level, r);
      const Rank place = nodes.place(level, its);
      at.parts[static_cast<std::size_t>(place % n)].push_back(r);
      if (nodes.group(level, its) == nodes.group(level, unit)) at.units[static_cast<std::size_t>(place)].push_back(r);
    }
    places.push_back(at.place);
    lane = at.parts[static_cast<std::size_t>(at.place % n)];
    levels.push_back(std::move(at));
    if (!levels.back().owner()) break;
  }
  return levels;
}

/// Calls `each(peer, blocks)` for those with whom blocks change hands on the level: an owner's with each unit further
/// on that is its own modulo the owners, that unit's with the owner.
template <typename Each>
void for_each_handing(const BundleLevel& at, Each each) {
  const auto index = [](Rank n) { return static_cast<std::size_t>(n); };
  if (!at.owner()) return each(at.ranks[index(at.place % at.owners)], at.units[index(at.place)]);
  for (Rank other = at.place + at.owners; index(other) < at.ranks.size(); other += at.owners)
    each(at.ranks[index(other)], at.units[index(other)]);
}

/// Blocks that a rank sends on a circulant graph of so many ranks, at most: in each round the largest parts.
inline std::int64_t most_spread(Rank ranks, std::vector<std::int64_t> parts) {
  std::ranges::sort(parts, std::greater<>());
  const std::vector<Rank> skips = halved_skips(ranks);
  std::int64_t blocks = 0;
  for (std::size_t j = 0; j + 1 < skips.size(); ++j) {
    const auto sent = std::min(static_cast<std::size_t>(skips[j] - skips[j + 1]), parts.size());
    blocks = std::accumulate(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(sent), blocks);
  }
  return blocks;
}

/// Rounds, and blocks along the longest chain; bounds where nodes are uneven.
struct BundleCost {
  std::int64_t rounds = 0;
  std::int64_t handed = 0;  ///< blocks, from or to those that are no owners
  std::int64_t node = 0;    ///< blocks, in the round of a node
  std::int64_t lanes = 0;   ///< blocks, on the levels above
  std::int64_t combined = 0;

  BundleCost(const Shape& shape, const Params& params) {
    const Nodes nodes(shape.ranks, params.list, 0);
    std::vector<Rank> lane_of(static_cast<std::size_t>(shape.ranks), 0);  // of every rank, on the levels so far
    std::int64_t unit = 1;                                                // blocks of a lane's unit, at most
    for (int level = 0; level < nodes.levels(); ++level) {
      const Rank n = owners(nodes, level, params.value);
      const Rank largest = nodes.largest(level);
      std::map<Rank, std::vector<std::int64_t>> parts;  // of every lane
      for (Rank r = 0; r < shape.ranks; ++r) {
        Rank& lane = lane_of[static_cast<std::size_t>(r)];
        const Rank place = nodes.place(level, nodes.unit(level, r)) % n;
        parts.try_emplace(lane, n, 0).first->second[static_cast<std::size_t>(place)] += 1;
        lane = lane * n + place;
      }
      rounds += (largest > n ? 1 : 0) + (level == 0 ? (largest > 1 ? 1 : 0) : ceil_log2(largest));
      handed += ((largest + n - 1) / n - 1) * unit;
      unit *= (largest + n - 1) / n;
      if (level == 0) {
        combined = (largest - 1) * std::ranges::max(parts[0]);
        node = largest > n ? std::max<std::int64_t>(combined, shape.ranks) : combined;
        continue;
      }
      std::int64_t most = 0;
      for (const auto& lane : parts) most = std::max(most, most_spread(largest, lane.second));
      lanes += most;
    }
    combined += lanes;
  }
  std::int64_t sent() const { return handed + node + lanes; }
};

}  // namespace stretto::patterns

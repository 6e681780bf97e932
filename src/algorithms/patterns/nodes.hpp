// SPDX-License-Identifier: BSD-3-Clause
//
// Where the ranks are, from the list "nodes": level 0 joins ranks to nodes, level 1 nodes to groups (those of a
// switch), and so on; a last level joins what is left. A level joins its units, which are ranks on level 0, else the
// groups of the level below. Nothing is assumed of the numbers, the order of the ranks or the sizes.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "algorithms/patterns/last_made.hpp"
#include "stretto/algorithm.hpp"

namespace stretto::patterns {

/// The list if there is none: consecutive nodes of ceil(sqrt(p)) ranks.
inline std::vector<Rank> default_nodes(Rank ranks) {
  Rank size = 1;
  while (std::int64_t{size} * size < ranks) ++size;
  std::vector<Rank> nodes(static_cast<std::size_t>(ranks));
  for (Rank r = 0; r < ranks; ++r) nodes[static_cast<std::size_t>(r)] = r / size;
  return nodes;
}

class Nodes {
  struct Level {
    std::vector<Rank> group, place;        // of every unit
    std::vector<std::vector<Rank>> units;  // of every group
    Rank smallest, largest;                // groups have so many units
  };

 public:
  /// `first` stands first in its node, as this does in its group, and so on: the root, where there is one. The others
  /// come in rank order, nodes by their lowest ranks. `list` has passed nodes_misfit().
  Nodes(Rank ranks, const std::vector<Rank>& list, Rank first) {
    levels_ = last_made<std::vector<Level>>([&] { return joined(ranks, list, first); }, ranks, first, list);
  }

  int levels() const { return static_cast<int>(levels_->size()); }
  Rank group(int level, Rank unit) const { return at(level).group[index(unit)]; }
  Rank place(int level, Rank unit) const { return at(level).place[index(unit)]; }  ///< in its group
  const std::vector<Rank>& units(int level, Rank group) const { return at(level).units[index(group)]; }
  Rank unit(int level, Rank rank) const {
    for (int below = 0; below < level; ++below) rank = group(below, rank);
    return rank;
  }
  /// The rank that has these places on the levels below, in that unit.
  Rank rank_in(int level, Rank unit, std::span<const Rank> places) const {
    for (; level > 0; --level) unit = units(level - 1, unit)[index(places[index(level - 1)])];
    return unit;
  }
  Rank smallest(int level) const { return at(level).smallest; }  ///< units of a group
  Rank largest(int level) const { return at(level).largest; }
  /// Has each level groups of one size?
  bool even() const {
    for (int level = 0; level < levels(); ++level)
      if (smallest(level) != largest(level)) return false;
    return true;
  }

 private:
  static std::size_t index(Rank n) { return static_cast<std::size_t>(n); }
  const Level& at(int level) const { return (*levels_)[index(level)]; }

  static std::vector<Level> joined(Rank ranks, const std::vector<Rank>& list, Rank first) {
    std::vector<Level> levels;
    std::vector<Rank> speakers{first};  // a rank of each unit
    for (Rank r = 0; r < ranks; ++r)
      if (r != first) speakers.push_back(r);
    for (std::size_t begin = 0; begin < list.size(); begin += static_cast<std::size_t>(ranks))
      speakers = join(levels, speakers, std::span(list).subspan(begin));
    join(levels, speakers, {});
    return levels;
  }

  /// A new level. Groups are numbered as they appear. `numbers` gives each rank's group; without it there is one.
  static std::vector<Rank> join(std::vector<Level>& levels, const std::vector<Rank>& speakers,
                                std::span<const Rank> numbers) {
    const bool ranks = levels.empty();
    Level level;
    level.group.resize(speakers.size());
    level.place.resize(speakers.size());
    std::unordered_map<Rank, Rank> known;
    std::vector<Rank> next;
    for (std::size_t i = 0; i < speakers.size(); ++i) {
      const Rank unit = ranks ? speakers[i] : static_cast<Rank>(i);
      const Rank number = numbers.empty() ? 0 : numbers[index(speakers[i])];
      const Rank group = known.try_emplace(number, static_cast<Rank>(next.size())).first->second;
      if (index(group) == next.size()) {
        next.push_back(speakers[i]);
        level.units.emplace_back();
      }
      level.group[index(unit)] = group;
      level.place[index(unit)] = static_cast<Rank>(level.units[index(group)].size());
      level.units[index(group)].push_back(unit);
    }
    const auto size = [](const std::vector<Rank>& units) { return static_cast<Rank>(units.size()); };
    level.smallest = size(*std::ranges::min_element(level.units, {}, size));
    level.largest = size(*std::ranges::max_element(level.units, {}, size));
    levels.push_back(std::move(level));
    return next;
  }

  std::shared_ptr<const std::vector<Level>> levels_;
};

/// The ranks below `unit`, a group of the level beneath or a rank, as a depth-first walk meets them.
inline void add_ranks_below(const Nodes& nodes, int level, Rank unit, std::vector<Rank>& ranks) {
  if (level == 0) return ranks.push_back(unit);
  for (const Rank below : nodes.units(level - 1, unit)) add_ranks_below(nodes, level - 1, below, ranks);
}

/// The list "order" that keeps nodes together, and the groups that they form.
inline std::vector<Rank> depth_first_order(Rank all, const std::vector<Rank>& places) {
  const Nodes nodes(all, places, 0);
  std::vector<Rank> ranks;
  add_ranks_below(nodes, nodes.levels(), 0, ranks);
  return ranks;
}

/// `misfit` of an algorithm that takes the list "nodes".
inline std::string nodes_misfit(const Shape& shape, const Params& params) {
  const auto p = static_cast<std::size_t>(shape.ranks);
  const std::vector<Rank>& list = params.list;
  if (list.size() % p != 0)
    return std::to_string(list.size()) + " nodes for " + std::to_string(p) +
           " ranks: the list has one for each rank, or as many again for each further level";
  for (std::size_t level = 0; (level + 1) * p < list.size(); ++level) {
    const Rank* inner = list.data() + level * p;
    const Rank* outer = inner + p;
    std::unordered_map<Rank, std::size_t> first;  // rank of each inner group
    for (std::size_t r = 0; r < p; ++r) {
      const std::size_t same = first.try_emplace(inner[r], r).first->second;
      if (outer[r] != outer[same])
        return "ranks " + std::to_string(same) + " and " + std::to_string(r) + " are in group " +
               std::to_string(inner[r]) + " of level " + std::to_string(level) + " of the nodes, but in groups " +
               std::to_string(outer[same]) + " and " + std::to_string(outer[r]) + " of the next: these join whole ones";
    }
  }
  return {};
}

/// `at_most` of algorithms whose numbers are exact where each level has groups of one size.
inline bool uneven_nodes(const Shape& shape, const Params& params) {
  return !Nodes(shape.ranks, params.list, 0).even();
}

}  // namespace stretto::patterns

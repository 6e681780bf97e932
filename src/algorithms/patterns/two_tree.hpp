// SPDX-License-Identifier: BSD-3-Clause
//
// Two binary trees over the same ranks, each for every second block (Sanders, Speck and Träff 2009). Places count from
// the root; the other places 1 … m form the trees, and place 0 stands above both tops.
//
// Trees.  The first is in order: a place's height is its number of low zero bits, and places above m are skipped on the
//   way up. Only even places have children. The second is the first one mirrored if m is even, shifted by one if m is
//   odd: only odd places have children. So every place sends to two others and receives from two, at most.
// Colours.  The edges are of two colours, such that those a place sends on differ and those it receives on differ: then
//   edges of one colour can be busy in the even rounds, the others in the odd rounds. Each place has one edge of either
//   colour above it, so one bit for each place tells all.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/patterns/powers.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// The schedule of all places. Rounds count from 0; block j goes down tree j % 2.
class TwoTree {
 public:
  static constexpr Block none = -1;
  using Children = std::array<Rank, 2>;  ///< 0: there is none

  TwoTree(Rank ranks, Block blocks)
      : m_(ranks - 1),
        blocks_(blocks),
        colour_(static_cast<std::size_t>(ranks), unknown) {
    for (int tree = 0; tree < 2; ++tree) {
      children_[tree].resize(static_cast<std::size_t>(ranks), Children{});
      start_[tree].resize(static_cast<std::size_t>(ranks), 0);
      for (Rank place = 1; place <= m_; ++place) {
        Children& siblings = children_[tree][index(parent(tree, place))];
        siblings[siblings[0] == 0 ? 0 : 1] = place;
      }
    }
    colour_edges();
    for (int tree = 0; tree < 2; ++tree) find_starts(tree, 0, -1);
  }

  bool fits(Rank ranks, Block blocks) const { return m_ == ranks - 1 && blocks_ == blocks; }
  std::int64_t rounds() const { return rounds_; }
  Rank parent(int tree, Rank place) const {
    if (tree == 0) return parent_in_order(place);
    const bool mirror = m_ % 2 == 0;
    const Rank above = parent_in_order(mirror ? m_ + 1 - place : place == 1 ? m_ : place - 1);
    return above == 0 ? 0 : mirror ? m_ + 1 - above : above % m_ + 1;
  }
  const Children& children(int tree, Rank place) const { return children_[tree][index(place)]; }

  /// The block that comes to `place` in `round`, or none.
  Block received(Rank place, int tree, std::int64_t round) const {
    const std::int64_t since = round - start_[tree][index(place)];
    const Block block = since + tree;  // a block every second round
    return since >= 0 && since % 2 == 0 && block < blocks_ ? block : none;
  }

 private:
  static constexpr char unknown = 2;

  static std::size_t index(Rank place) { return static_cast<std::size_t>(place); }

  Rank parent_in_order(Rank place) const {
    if (place == floor_power_of_two(m_)) return 0;  // the top
    std::int64_t up = place;
    do {
      const std::int64_t low = up & -up;
      up = (up ^ low) | (low << 1);
    } while (up > m_);
    return static_cast<Rank>(up);
  }

  Rank sibling(int tree, Rank place) const {
    const Children& both = children(tree, parent(tree, place));
    return both[0] == place ? both[1] : both[0];
  }

  // colour_[place] is that of the edge above it in the first tree. The tops have the same, for the root's two edges to
  // differ; siblings differ in both trees. As no place has more than two edges of a kind, that always works out.
  void colour_edges() {
    std::vector<Rank> begin;
    for (int tree = 0; tree < 2 && m_ > 0; ++tree) begin.push_back(children(tree, 0)[0]);
    for (const Rank top : begin) colour_[index(top)] = 0;
    for (Rank place = 1; place <= m_; ++place) begin.push_back(place);
    for (const Rank from : begin) {
      if (colour_[index(from)] == unknown) colour_[index(from)] = 0;
      std::vector<Rank> reached{from};
      while (!reached.empty()) {
        const Rank place = reached.back();
        reached.pop_back();
        for (const int tree : {0, 1}) {
          const Rank other = sibling(tree, place);
          if (other == 0 || colour_[index(other)] != unknown) continue;
          colour_[index(other)] = static_cast<char>(1 - colour_[index(place)]);
          reached.push_back(other);
        }
      }
    }
  }

  void find_starts(int tree, Rank place, std::int32_t arrival) {
    const Block last = (blocks_ - 1 - tree) / 2 * 2;  // rounds from a place's first block to its last one
    for (const Rank child : children(tree, place)) {
      if (child == 0) continue;
      const bool odd = colour_[index(child)] != tree;
      const std::int32_t start = arrival + 1 + ((arrival + 1) % 2 == odd ? 0 : 1);
      start_[tree][index(child)] = start;
      if (tree < blocks_) rounds_ = std::max(rounds_, start + last + 1);
      find_starts(tree, child, start);
    }
  }

  Rank m_;
  Block blocks_;
  std::int64_t rounds_ = 0;
  std::array<std::vector<Children>, 2> children_;   // by tree and place
  std::array<std::vector<std::int32_t>, 2> start_;  // the round in which a tree's first block comes to a place
  std::vector<char> colour_;
};

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// All messages of an alltoall on a tree of switches, in as few phases as its busiest link allows, where no two messages
// of a phase take the same link in the same direction: the way of Faraj and Yuan (2005).
//
// The tree is cut at a vertex none of whose branches has more than half of the p ranks. With n0 >= n1 >= … ranks in the
// branches, the link of the largest is the busiest of all: n0·(p-n0) messages must cross it each way, and so many are
// the phases. In a phase at most one rank of a branch sends to another branch, and at most one receives from another.
// These two do not disturb a message from the second to the first: that is when messages inside of a branch travel.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/patterns/nodes.hpp"
#include "algorithms/patterns/powers.hpp"

namespace stretto::patterns {

/// The ranks of each branch, the largest branch first.
inline std::vector<std::vector<Rank>> branches_of(const Nodes& nodes, Rank ranks) {
  const auto all_below = [&](int level, Rank unit) {
    std::vector<Rank> found;
    add_ranks_below(nodes, level, unit, found);
    return found;
  };
  int level = nodes.levels();
  std::vector<std::vector<Rank>> branches{all_below(level, 0)};
  for (Rank at = 0; level > 0 && 2 * static_cast<Rank>(branches[0].size()) > ranks;) {  // down to the largest
    std::vector<char> below(static_cast<std::size_t>(ranks));
    for (const Rank r : branches[0]) below[static_cast<std::size_t>(r)] = 1;
    --level;
    const std::vector<Rank>& units = nodes.units(level, at);
    branches.clear();
    for (const Rank unit : units) branches.push_back(all_below(level, unit));
    const auto largest = std::ranges::max_element(branches, {}, &std::vector<Rank>::size);
    at = units[static_cast<std::size_t>(largest - branches.begin())];
    std::swap(branches[0], *largest);
    std::vector<Rank> above;
    for (Rank r = 0; r < ranks; ++r)
      if (!below[static_cast<std::size_t>(r)]) above.push_back(r);
    if (!above.empty()) branches.push_back(std::move(above));
  }
  std::ranges::stable_sort(
      branches, [](const auto& a, const auto& b) { return a.size() != b.size() ? a.size() > b.size() : a[0] < b[0]; });
  return branches;
}

/// Colours the edges of a bipartite graph, one after the other, so that no two at a vertex are alike: by König, as many
/// colours do as a vertex has edges at most.
class EdgeColours {
 public:
  EdgeColours(std::size_t left, std::size_t right, Rank colours)
      : left_(left),
        colours_(static_cast<std::size_t>(colours)),
        at_((left + right) * colours_, -1) {}

  void add(std::size_t left, std::size_t right) {
    const std::size_t ends[2] = {left, left_ + right};
    const std::size_t here = free_at(ends[0]);
    swap_along(ends[1], here, free_at(ends[1]));
    ends_.push_back({ends[0], ends[1]});
    colour_.push_back(here);
    mark(ends_.size() - 1);
  }
  Rank operator[](std::size_t edge) const { return static_cast<Rank>(colour_[edge]); }

 private:
  struct Ends {
    std::size_t left, right;
  };
  std::ptrdiff_t& at(std::size_t vertex, std::size_t colour) { return at_[vertex * colours_ + colour]; }
  std::size_t free_at(std::size_t vertex) {
    std::size_t colour = 0;
    while (at(vertex, colour) >= 0) ++colour;
    return colour;
  }
  void mark(std::size_t edge) {
    at(ends_[edge].left, colour_[edge]) = at(ends_[edge].right, colour_[edge]) = static_cast<std::ptrdiff_t>(edge);
  }
  /// Frees `one` at the vertex: the edges on the way from it whose colours are `one` and `other` by turns change them.
  void swap_along(std::size_t vertex, std::size_t one, std::size_t other) {
    std::vector<std::size_t> path;
    std::size_t colour = one;
    for (std::ptrdiff_t edge; (edge = at(vertex, colour)) >= 0; colour = one + other - colour) {
      path.push_back(static_cast<std::size_t>(edge));
      const Ends& e = ends_[path.back()];
      vertex = vertex == e.left ? e.right : e.left;
    }
    for (const std::size_t edge : path) at(ends_[edge].left, colour_[edge]) = at(ends_[edge].right, colour_[edge]) = -1;
    for (const std::size_t edge : path) colour_[edge] = one + other - colour_[edge];
    for (const std::size_t edge : path) mark(edge);
  }

  std::size_t left_, colours_;
  std::vector<std::ptrdiff_t> at_;  // the edge of each colour at each vertex, or -1
  std::vector<Ends> ends_;
  std::vector<std::size_t> colour_;
};

/// A message of a phase. One without a block keeps its receiver back until the phase before its own has begun.
struct PhaseMessage {
  std::int64_t phase;
  Rank from, to;
  bool block;
};

class TreePhases {
 public:
  TreePhases(Rank ranks, const std::vector<Rank>& list)
      : branches_(branches_of(Nodes(ranks, list, 0), ranks)),
        ranks_(ranks),
        count_(count_of(branches_, ranks)) {
    if (count_ == 0) return;
    for (std::size_t i = 0; i < branches_.size(); ++i)
      for (std::size_t j = 0; j < branches_.size(); ++j)
        if (i != j && i > 0) between(i, j);
    from_the_largest();
    for (std::size_t i = 1; i < branches_.size(); ++i) inside(i);
    sort();
    hold_back();
    sort();
  }

  static std::int64_t count_of(const std::vector<std::vector<Rank>>& branches, Rank ranks) {
    const auto largest = static_cast<std::int64_t>(branches[0].size());
    return largest * (ranks - largest);
  }
  const std::vector<PhaseMessage>& messages() const { return messages_; }  ///< phase by phase

 private:
  std::int64_t size(std::size_t branch) const { return static_cast<std::int64_t>(branches_[branch].size()); }
  std::int64_t sizes(std::size_t from, std::size_t end) const {
    std::int64_t sum = 0;
    for (std::size_t i = from; i != end; ++i) sum += size(i);
    return sum;
  }
  /// The first of the consecutive phases in which branch i sends to branch j.
  std::int64_t first(std::size_t i, std::size_t j) const {
    return i < j ? size(i) * sizes(i + 1, j) : count_ - size(j) * sizes(j + 1, i + 1);
  }
  Rank member(std::size_t branch, std::int64_t place) const {
    return branches_[branch][static_cast<std::size_t>(place)];
  }
  /// Whatever comes into a branch goes to its ranks in turn.
  Rank receiver(std::size_t branch, std::int64_t phase) const {
    const std::int64_t n = size(branch);
    return member(branch, (phase + n - count_ % n) % n);
  }
  void add(std::int64_t phase, Rank from, Rank to, bool block = true) {
    if (from != to) messages_.push_back({phase, from, to, block});
  }

  /// Each rank of branch i sends to all of branch j before the next one does.
  void between(std::size_t i, std::size_t j) {
    for (std::int64_t n = 0; n < size(i) * size(j); ++n)
      add(first(i, j) + n, member(i, n / size(j)), receiver(j, first(i, j) + n));
  }

  /// Branch i's last messages to others go to branch i-1, which is as large at least: while one of its ranks sends
  /// them, all have their turn to receive.
  void inside(std::size_t i) {
    for (std::int64_t sender = 0; sender < size(i); ++sender)
      for (std::int64_t n = 0; n < size(i); ++n) {
        const std::int64_t phase = first(i, i - 1) + sender * size(i - 1) + n;
        add(phase, receiver(i, phase), member(i, sender));
      }
  }

  /// The largest branch sends and receives in every phase, and is short of none: which rank sends is a colour of the
  /// phase. Phases with the same receiver differ, so that each pair of ranks of two branches meets once; and so do the
  /// first n0 phases in which the same rank of the branch receives, so that all its pairs meet.
  void from_the_largest() {
    const std::int64_t n = size(0);
    const std::int64_t classes = ranks_ - n;
    EdgeColours sender(static_cast<std::size_t>(classes), static_cast<std::size_t>((classes + n - 1) / n * n),
                       static_cast<Rank>(n));
    std::int64_t phase = 0;
    std::int64_t before = 0;
    for (std::size_t j = 1; j < branches_.size(); before += size(j++))
      for (const std::int64_t end = phase + n * size(j); phase < end; ++phase) {
        sender.add(static_cast<std::size_t>(before + phase % size(j)),
                   static_cast<std::size_t>(phase / (n * n) * n + phase % n));
      }
    phase = 0;
    for (std::size_t j = 1; j < branches_.size(); ++j)
      for (const std::int64_t end = phase + n * size(j); phase < end; ++phase)
        add(phase, member(0, sender[static_cast<std::size_t>(phase)]), receiver(j, phase));
    for (phase = 0; phase < n * n; ++phase)
      add(phase, receiver(0, phase), member(0, sender[static_cast<std::size_t>(phase)]));
  }

  /// Messages without blocks: a rank goes on when its messages have left, and hears of others by what it receives. By
  /// its clock, which these move, no message may begin before its phase. Where both ends would, the sender hears in the
  /// phase before from a rank whose clock is right: of its own branch, if there is one.
  void hold_back() {
    std::vector<std::size_t> branch(static_cast<std::size_t>(ranks_));
    for (std::size_t i = 0; i < branches_.size(); ++i)
      for (const Rank r : branches_[i]) branch[static_cast<std::size_t>(r)] = i;
    std::vector<std::int64_t> clock(static_cast<std::size_t>(ranks_), 0), before = clock;
    const auto at = [](std::vector<std::int64_t>& of, Rank r) -> std::int64_t& {
      return of[static_cast<std::size_t>(r)];
    };
    const std::size_t all = messages_.size();
    for (std::size_t begin = 0, earlier = 0, end = 0; begin < all; earlier = begin, begin = end) {
      const std::int64_t phase = messages_[begin].phase;
      for (end = begin; end < all && messages_[end].phase == phase; ++end) {
        const Rank from = messages_[end].from;
        if (at(clock, from) == phase || at(clock, messages_[end].to) == phase) continue;
        Rank teller = no_rank;
        for (std::size_t m = earlier; m < begin; ++m)
          for (const Rank r : {messages_[m].from, messages_[m].to})
            if (at(before, r) == phase - 1 &&
                (teller == no_rank || branch[static_cast<std::size_t>(r)] == branch[static_cast<std::size_t>(from)]))
              teller = r;
        add(phase - 1, teller, from, false);
        at(clock, from) = phase;
      }
      before = clock;
      for (std::size_t m = begin; m < end; ++m)
        for (const Rank r : {messages_[m].from, messages_[m].to}) at(clock, r) = at(before, r) + 1;
      for (std::size_t m = begin; m < end; ++m)
        at(clock, messages_[m].to) = std::max(at(clock, messages_[m].to), at(before, messages_[m].from) + 1);
    }
  }

  void sort() { std::ranges::stable_sort(messages_, {}, &PhaseMessage::phase); }

  std::vector<std::vector<Rank>> branches_;
  Rank ranks_;
  std::int64_t count_;
  std::vector<PhaseMessage> messages_;
};

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// The ordered, data-aware tree of gatherv and scatterv (Träff 2017): neighbouring intervals of 1, 2, 4, … ranks are
// joined. All blocks of an interval are with one rank of it; when two are joined, they go to the rank that has more
// data, so that large parts stay where they are. An interval with the root is always with the root.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "stretto/builder.hpp"
#include "stretto/collective.hpp"

namespace stretto::patterns {

/// Blocks first … first+count-1 are with `loser` and go to `winner`; in a scatter the other way.
struct Join {
  Rank winner;
  Rank loser;
  Rank first;
  Rank count;
};

/// Calls `each(join, first rank of the interval that comes to be, first rank of its upper half)`, small intervals
/// first.
template <typename Each>
void for_each_join(const Shape& shape, Each each) {
  const Rank p = shape.ranks;
  std::vector<Count> data = shape.counts;  // of the interval that begins there
  std::vector<Rank> holder(static_cast<std::size_t>(p));
  std::iota(holder.begin(), holder.end(), 0);
  for (std::int64_t width = 1; width < p; width *= 2)
    for (std::int64_t base = 0; base + width < p; base += 2 * width) {
      const auto lower = static_cast<std::size_t>(base), upper = static_cast<std::size_t>(base + width);
      const auto end = static_cast<Rank>(std::min<std::int64_t>(base + 2 * width, p));
      const bool up = holder[upper] == shape.root || (holder[lower] != shape.root && data[upper] > data[lower]);
      const auto first = static_cast<Rank>(up ? lower : upper);
      const auto middle = static_cast<Rank>(upper);
      each(Join{holder[up ? upper : lower], holder[up ? lower : upper], first, (up ? middle : end) - first},
           static_cast<Rank>(lower), middle);
      if (up) holder[lower] = holder[upper];
      data[lower] += data[upper];
    }
}

/// Blocks along the longest chain, of gather and scatter.
inline std::int64_t ordered_tree_sent(const Shape& shape) {
  std::vector<std::int64_t> sent(static_cast<std::size_t>(shape.ranks), 0);
  for_each_join(shape, [&](const Join& join, Rank lower, Rank upper) {
    std::int64_t& chain = sent[static_cast<std::size_t>(lower)];
    chain = std::max(chain, sent[static_cast<std::size_t>(upper)]) + join.count;
  });
  return sent[0];
}

/// What one rank does: the joins that it wins, then perhaps the one that it loses, and where the blocks lie until then.
class OrderedTreePlace {
 public:
  /// `at_root` and `own`: where all blocks of the root, and the own one of others, lie.
  OrderedTreePlace(Builder& b, const Shape& shape, Buffer at_root, Buffer own)
      : me_(b.rank()),
        is_root_(b.rank() == shape.root),
        at_root_(at_root),
        own_(own) {
    for_each_join(shape, [&](const Join& join, Rank, Rank) {
      if (join.winner == me_) won.push_back(join);
      if (join.loser == me_) lost = join;
    });
    if (is_root_) return;
    b.new_scratch(lost.first, me_ - lost.first);
    b.new_scratch(me_ + 1, lost.first + lost.count - me_ - 1);
  }

  /// Blocks of others.
  Ranges blocks(const Join& join) const {
    if (is_root_) return {{at_root_, join.first, join.count}};
    return scratch(join.first - lost.first - (join.first > me_ ? 1 : 0), join.count);
  }
  /// All that I lose, my own block among them.
  Ranges all() const {
    const Rank before = me_ - lost.first;
    return {{Buffer::scratch, 0, before}, {own_, me_, 1}, {Buffer::scratch, before, lost.count - before - 1}};
  }

  std::vector<Join> won;  ///< small intervals first
  Join lost{no_rank, no_rank, 0, 0};

 private:
  Rank me_;
  bool is_root_;
  Buffer at_root_, own_;
};

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// k-nomial trees: a place's parent is the place with its lowest digit other than 0, to the base k ("radix"), made 0.
// Places count from the root, so that a subtree is an interval of places. All children of a level are served in one
// round.
#pragma once

#include <algorithm>

#include "algorithms/patterns/powers.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// A radix above p does what p does; powers up to the first one that reaches p do not overflow.
inline std::int64_t usable_radix(std::int64_t radix, Rank ranks) {
  return std::clamp<std::int64_t>(radix, 2, std::max(ranks, 2));
}

/// The least n with radix^n >= ranks.
inline int ceil_log(Rank ranks, std::int64_t radix) {
  int n = 0;
  for (std::int64_t power = 1; power < ranks; power *= usable_radix(radix, ranks)) ++n;
  return n;
}

/// Vectors along the longest chain of a tree of that radix, down or up: radix - 1 in each level, less in the last.
inline std::int64_t knomial_sent(Rank ranks, std::int64_t radix) {
  const std::int64_t base = usable_radix(radix, ranks);
  std::int64_t below = 1;  // the largest power of the radix below p
  std::int64_t vectors = 0;
  for (; below * base < ranks; below *= base) vectors += base - 1;
  return vectors + (ranks - 1) / below;
}

struct KnomialPlace {
  Rank ranks;
  Rank root;
  std::int64_t radix;
  Rank v;            ///< mine; the root's is 0
  std::int64_t end;  ///< the power of the radix below which my digits are 0: my subtree ends before v+end

  KnomialPlace(const Builder& b, Rank root_rank, std::int64_t base)
      : KnomialPlace(modulo(b.rank() - root_rank, b.ranks()), b.ranks(), base) {
    root = root_rank;
  }
  /// Place `place` of a tree whose root is rank 0.
  KnomialPlace(Rank place, Rank all, std::int64_t base)
      : ranks(all),
        root(0),
        radix(usable_radix(base, all)),
        v(place),
        end(1) {
    while (end < ranks && v % (end * radix) == 0) end *= radix;
  }
  Rank rank_of(Rank place) const { return modulo(place + root, ranks); }
  Rank parent() const { return rank_of(static_cast<Rank>(v - v / end % radix * end)); }
  Rank subtree() const { return static_cast<Rank>(std::min<std::int64_t>(end, ranks - v)); }

  /// Calls `each(child place, size of its subtree)` for the children at distances step, 2 step, … of one level.
  template <typename Each>
  void for_each_child(std::int64_t step, Each each) const {
    for (std::int64_t child = v + step; child < std::min<std::int64_t>(v + radix * step, ranks); child += step)
      each(static_cast<Rank>(child), static_cast<Rank>(std::min(step, ranks - child)));
  }
};

/// Output block 0 of `root` comes into every output. ceil(log_k p) rounds.
inline void knomial_bcast(Builder& b, Rank root, std::int64_t radix) {
  const KnomialPlace place(b, root, radix);
  b.round();
  if (place.v != 0) b.receive(place.parent(), output(0));
  for (std::int64_t step = place.end / place.radix; step > 0; step /= place.radix) {
    b.round();
    place.for_each_child(step, [&](Rank child, Rank) { b.send(place.rank_of(child), output(0)); });
  }
}

/// The blocks of the places below mine, in their order: the root's lie where they belong, other ranks' in scratch.
class SubtreeBlocks {
 public:
  SubtreeBlocks(Builder& b, const KnomialPlace& place, Buffer at_root) : place_(place), at_root_(at_root) {
    if (place.v == 0) return;
    for (const Range& r : wrapped(at_root, b.rank() + 1, place.subtree() - 1, place.ranks))
      b.new_scratch(r.first, r.count);
  }
  Ranges at(Rank child, Rank count) const {
    if (place_.v == 0) return wrapped(at_root_, place_.rank_of(child), count, place_.ranks);
    return scratch(child - place_.v - 1, count);
  }
  /// My own block, in `own`, and all below it.
  Ranges with(Range own) const { return {own, {Buffer::scratch, 0, place_.subtree() - 1}}; }

 private:
  const KnomialPlace& place_;
  Buffer at_root_;
};

/// Every rank's block in the input comes into the root's output. ceil(log_k p) rounds, p - 1 blocks.
inline void knomial_gather(Builder& b, Rank root, std::int64_t radix) {
  const KnomialPlace place(b, root, radix);
  const SubtreeBlocks below(b, place, Buffer::output);
  if (place.v == 0) b.copy(input(root), output(root));
  for (std::int64_t step = 1; step < place.end; step *= place.radix) {
    place.for_each_child(step, [&](Rank child, Rank size) { b.receive(place.rank_of(child), below.at(child, size)); });
    b.round();
  }
  if (place.v != 0) b.send(place.parent(), below.with({Buffer::input, b.rank(), 1}));
}

/// The reverse: every rank gets its block of the root's input into its output.
inline void knomial_scatter(Builder& b, Rank root, std::int64_t radix) {
  const KnomialPlace place(b, root, radix);
  const SubtreeBlocks below(b, place, Buffer::input);
  if (place.v == 0)
    b.copy(input(root), output(root));
  else
    b.receive(place.parent(), below.with({Buffer::output, b.rank(), 1}));
  for (std::int64_t step = place.end / place.radix; step > 0; step /= place.radix) {
    if (place.v != 0 || step < place.end / place.radix) b.round();
    place.for_each_child(step, [&](Rank child, Rank size) { b.send(place.rank_of(child), below.at(child, size)); });
  }
}

/// Every rank's part, where `part(rank)` says, of any number of blocks, comes to rank 0, into the same places there; or
/// the other way. Binomial.
template <typename Part>
void binomial_parts(Builder& b, bool gather, Part part) {
  const KnomialPlace place(b, 0, 2);
  const auto of_subtree = [&](Rank first, Rank count) {
    Ranges all;
    for (Rank i = 0; i < count; ++i)
      for (const Range& r : part(first + i)) all.push_back(r);
    return all;
  };
  const auto meet = [&](Rank peer, const Ranges& blocks, bool sends) {
    if (blocks_in(blocks) == 0) return;
    b.round();
    sends ? b.send(peer, blocks) : b.receive(peer, blocks);
  };
  const auto meet_parent = [&] {
    if (place.v != 0) meet(place.parent(), of_subtree(place.v, place.subtree()), gather);
  };
  if (!gather) meet_parent();
  for (std::int64_t i = 1; i < place.end; i *= 2)
    place.for_each_child(gather ? i : place.end / 2 / i,
                         [&](Rank child, Rank size) { meet(child, of_subtree(child, size), !gather); });
  if (gather) meet_parent();
}

}  // namespace stretto::patterns

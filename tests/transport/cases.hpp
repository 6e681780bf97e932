// SPDX-License-Identifier: BSD-3-Clause
//
// With what every algorithm is carried out: its variants, drawn sizes, layouts, segments and elements.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "stretto/variants.hpp"
#include "transport/kinds.hpp"

namespace stretto::test {

struct MatrixCase {
  const Algorithm* algorithm;
  Variant variant;
  const Kind* kind;
  Count longest;              // elements of the vector, or of the largest part
  std::vector<Count> counts;  // of irregular parts: one for each rank, or of an alltoall for each block; else empty
  Count segment;
  int depth;
  bool in_place;

  std::string name() const {
    const Shape& shape = variant.shape;
    std::string text = std::string(algorithm->id) + ' ' + to_text(variant, *algorithm) + " on " +
                       std::to_string(shape.ranks) + " ranks, root " + std::to_string(shape.root) + ", " +
                       std::to_string(longest) + " elements, " + std::string(kind->name) + ", segments of " +
                       std::to_string(segment) + " by " + std::to_string(depth) + (in_place ? ", in place" : "");
    for (std::size_t i = 0; i < counts.size(); ++i) text += (i == 0 ? ", parts " : ":") + std::to_string(counts[i]);
    return text;
  }
};

/// The same throws on all ranks.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : state_(seed) {}
  std::size_t below(std::size_t n) {
    state_ = state_ * 1664525 + 1013904223;
    return (state_ >> 8) % n;
  }
  template <typename List>
  const auto& one_of(const List& list) {
    return *std::next(std::begin(list), static_cast<std::ptrdiff_t>(below(std::size(list))));
  }

 private:
  std::uint32_t state_;
};

/// How many cases of each variant of an algorithm; but of one in `thinned` variants only, apart from the first.
struct Sample {
  int draws;
  std::uint32_t thinned;
  std::uint32_t seed;
};

constexpr Count longest_count = 5000;

struct Cut {
  Count segment;
  int depth;
};

/// How a vector or part of `count` elements is cut into segments: not at all, and into few, many, uneven ones.
inline std::vector<Cut> cuts(Count count) {
  std::vector<Cut> cuts{{0, 1}};
  const auto add = [&](Count segment, int depth) {
    if (segment < count) cuts.push_back({segment, depth});
  };
  if (count < 100) {
    for (int depth : {1, 2, 4}) add(1, depth);
    add(7, 2);
    add(60, 4);
  } else {
    add(641, 1);
    add(641, 2);
    add(300, 4);
    add(4999, 2);
  }
  return cuts;
}

/// Sizes of n parts of at most `longest` elements: with holes, of one alone, all alike, none.
inline std::vector<Count> irregular_counts(Dice& dice, std::size_t n, Count longest) {
  std::vector<Count> counts(n);
  const std::size_t kind = dice.below(8);
  const std::size_t one = dice.below(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (kind == 0) counts[i] = i == one ? longest : 0;
    if (kind == 1) counts[i] = longest;
    if (kind > 2 && dice.below(3) > 0)
      counts[i] = static_cast<Count>(dice.below(static_cast<std::size_t>(longest + 1)));
  }
  return counts;
}

inline std::vector<const Kind*> kinds_for(const Algorithm& a) {
  std::vector<const Kind*> fitting;
  for (const Kind& kind : kinds)  // operators matter to reductions only
    if (kind.commutative || (facts(a.collective).reduces && !a.needs.commutative)) fitting.push_back(&kind);
  return fitting;
}

inline MatrixCase draw(Dice& dice, const Algorithm& a, const Variant& variant) {
  const auto ranks = static_cast<std::size_t>(variant.shape.ranks);
  const Count p = variant.shape.ranks;
  const CollectiveFacts& of = facts(a.collective);
  MatrixCase c{&a, variant, dice.one_of(kinds_for(a)), 0, {}, 0, 1, may_alias(a.collective) && dice.below(3) == 0};
  const Count some[] = {0, 1, 3, 97, p - 1, p, p + 1, 200, 1000, longest_count};
  if (a.collective != Collective::barrier) c.longest = dice.one_of(some);
  if (a.needs.counts) {
    c.counts = variant.shape.counts;
  } else if (of.per_rank && dice.below(2) == 0) {
    c.longest = std::min(c.longest, longest_count / p);  // holes make it long enough
    const auto blocks = static_cast<std::size_t>(std::max<Block>(a.blocks(variant.shape, variant.params), 1));
    c.counts = irregular_counts(dice, of.pairwise ? ranks * blocks : ranks, c.longest);
  }
  if (!c.counts.empty()) c.longest = *std::max_element(c.counts.begin(), c.counts.end());
  const Cut cut = of.neighbourhood ? Cut{0, 1} : dice.one_of(cuts(c.longest));
  c.segment = cut.segment;
  c.depth = cut.depth;
  return c;
}

/// Calls `each` for a sample of cases of all algorithms.
template <typename Each>
void for_each_case(Rank ranks, const Sample& sample, Each each) {
  Dice dice(sample.seed);
  for (const Algorithm* a : all_algorithms()) {
    std::set<Rank> roots{0};
    if (facts(a->collective).rooted) roots.insert({1 % ranks, ranks / 3, ranks - 1});
    bool first = true;
    for (const Rank root : roots)
      for (const Variant& variant : variants(*a, ranks, root)) {
        if (!first && dice.below(sample.thinned) != 0) continue;
        first = false;
        for (int i = 0; i < sample.draws; ++i) each(draw(dice, *a, variant));
      }
  }
}

}  // namespace stretto::test

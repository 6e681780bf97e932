// SPDX-License-Identifier: BSD-3-Clause
//
// Reduce-scatter and allgather on a circulant graph (Träff, arXiv 2410.14234). Rank r counts blocks relative to
// itself: relative block i is block (r + i) mod p. The skips fall from p to 1, each at least half of the one before;
// halving rounded up gives ceil(lg p) rounds, powers of two give Bruck's rounds.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/patterns/powers.hpp"
#include "stretto/algorithm.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// p, ceil(p/2), … , 1
inline std::vector<Rank> halved_skips(Rank ranks) {
  std::vector<Rank> skips{ranks};
  while (skips.back() > 1) skips.push_back((skips.back() + 1) / 2);
  return skips;
}

/// The call's own skips, after p, or the halved ones.
inline std::vector<Rank> given_skips(Rank ranks, const std::vector<Rank>& list) {
  if (list.empty()) return halved_skips(ranks);
  std::vector<Rank> skips{ranks};
  skips.insert(skips.end(), list.begin(), list.end());
  return skips;
}

/// `misfit` of an algorithm that takes the list "skips".
inline std::string skips_misfit(const Shape& shape, const Params& params) {
  const std::vector<Rank> skips = given_skips(shape.ranks, params.list);
  for (std::size_t j = 0; j + 1 < skips.size(); ++j)
    if (skips[j + 1] >= skips[j] || skips[j + 1] < (skips[j] + 1) / 2)
      return "skip " + std::to_string(skips[j + 1]) + " after " + std::to_string(skips[j]) +
             ": skips fall from below the number of ranks to 1, each at least half of the one before";
  return skips.back() == 1 ? "" : "the last skip is not 1";
}

/// Rounds of one phase of an algorithm that takes them.
inline std::int64_t steps_of(const Shape& shape, const Params& params) {
  return static_cast<std::int64_t>(given_skips(shape.ranks, params.list).size()) - 1;
}

/// Reduces the inputs into relative block 0. Partial results live where `place(i, n)` says relative blocks
/// i … i+n-1 are; it is asked for the lower half of the blocks only. The operands are not in rank order.
template <typename Place>
void circulant_reduce_scatter(Builder& b, const std::vector<Rank>& skips, Place place) {
  const Rank p = b.ranks();
  Rank begun = 0;  // relative blocks below it have left the input
  const auto now = [&](Rank first, Rank end) {
    const Rank middle = std::clamp(begun, first, end);
    Ranges ranges = place(first, middle - first);
    for (const Range& r : wrapped(Buffer::input, b.rank() + middle, end - middle, p)) ranges.push_back(r);
    return ranges;
  };
  for (std::size_t j = 0; j + 1 < skips.size(); ++j) {
    const Rank all = skips[j];
    const Rank kept = skips[j + 1];
    b.round();
    b.send(modulo(b.rank() + kept, p), now(kept, all));
    b.receive_reduce(modulo(b.rank() - kept, p), place(0, all - kept), Side::left, now(0, all - kept));
    begun = std::max(begun, all - kept);
  }
}

/// The way back: relative block 0 of every rank, standing in `own`, comes into every output.
inline void circulant_allgather(Builder& b, const std::vector<Rank>& skips, Buffer own) {
  const Rank p = b.ranks();
  b.round();
  for (std::size_t j = skips.size() - 1; j > 0; --j) {
    const Rank all = skips[j - 1];
    const Rank kept = skips[j];
    const Buffer from = j == skips.size() - 1 ? own : Buffer::output;
    b.send(modulo(b.rank() - kept, p), wrapped(from, b.rank(), all - kept, p));
    b.receive(modulo(b.rank() + kept, p), wrapped(Buffer::output, b.rank() + kept, all - kept, p));
    b.round();
  }
}

/// What stands in the parts of ranks first … first+count-1, counted modulo p; `part(rank)` says where that is.
template <typename Part>
Ranges parts_from(const Builder& b, Rank first, Rank count, Part part) {
  Ranges all;
  for (Rank i = 0; i < count; ++i)
    for (const Range& r : part(modulo(first + i, b.ranks()))) all.push_back(r);
  return all;
}

/// The same with a part of any number of blocks for each rank, none among them: `part(rank)` is where it stands before
/// and after. Halved skips.
template <typename Part>
void circulant_reduce_scatter_parts(Builder& b, Part part) {
  const Rank p = b.ranks();
  for (Rank all = p; all > 1; all = (all + 1) / 2) {
    const Rank kept = (all + 1) / 2;
    const Ranges leaving = parts_from(b, b.rank() + kept, all - kept, part);
    const Ranges staying = parts_from(b, b.rank(), all - kept, part);
    b.round();
    if (blocks_in(leaving) > 0) b.send(modulo(b.rank() + kept, p), leaving);
    if (blocks_in(staying) > 0) b.receive_reduce(modulo(b.rank() - kept, p), staying, Side::left);
  }
}

/// The way back: the parts of all ranks come to all.
template <typename Part>
void circulant_allgather_parts(Builder& b, Part part) {
  const Rank p = b.ranks();
  const std::vector<Rank> skips = halved_skips(p);
  for (std::size_t j = skips.size() - 1; j > 0; --j) {
    const Rank others = skips[j - 1] - skips[j];
    const Ranges mine = parts_from(b, b.rank(), others, part);
    const Ranges theirs = parts_from(b, b.rank() + skips[j], others, part);
    b.round();
    if (blocks_in(mine) > 0) b.send(modulo(b.rank() - skips[j], p), mine);
    if (blocks_in(theirs) > 0) b.receive(modulo(b.rank() + skips[j], p), theirs);
  }
}

}  // namespace stretto::patterns

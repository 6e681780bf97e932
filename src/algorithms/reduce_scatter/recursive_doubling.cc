// SPDX-License-Identifier: BSD-3-Clause
//
// reduce_scatter/recursive_doubling: partners at distance 1, 2, 4, … exchange all but what their own side has done.
//
//   rounds    lg p if p = 2^k; else 2 + floor(lg p)
//   volume    lg p - (p-1)/p vectors if p = 2^k; else about 1 + floor(lg p), and less than that
//   combined  lg p - 2(p-1)/p vectors and lg p blocks if p = 2^k; else about as much as sent
//   scratch   two vectors
//   needs     nothing: rank order is kept
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.4
//
// A rank sends, at distance d, all blocks but those of the d ranks that it has heard of. The paper counts the combining
// of all that arrives; here the blocks of the other ranks of the own side are left out, which get them from elsewhere.
// If p is no power of two, pairs of ranks are folded: the odd one sends its vector to the even one (in the paper the
// other way round) and gets its block in the end.
//
//   p = 4, blocks sent   rank 0: 123 to 1, 23 to 2   rank 1: 023 to 0, 23 to 3   rank 2: 013 to 3, 01 to 0

#include "algorithms/list.hpp"
#include "algorithms/patterns/folded_scatter.hpp"

namespace stretto::algorithms::reduce_scatter_recursive_doubling {
namespace {

using patterns::Fold;
using patterns::Interval;
using patterns::PartialBlocks;

std::vector<Block> all_but(Block blocks, Interval left_out) {
  std::vector<Block> rest;
  patterns::append(rest, {0, left_out.first});
  patterns::append(rest, {left_out.first + left_out.count, blocks - left_out.first - left_out.count});
  return rest;
}

std::vector<Block> need(const Fold& fold, Rank) { return all_but(fold.ranks, {0, 0}); }

/// The ranks for which the 2^k ranks around `place` stand.
Interval side(const Fold& fold, Rank place, Rank size) { return fold.stands_for(place / size * size, size); }

void among(Builder& b, const Fold& fold, const PartialBlocks& partial, bool begun) {
  const Block arrived = b.new_scratch(0, b.blocks());
  const auto arrivals = [&](const std::vector<Block>& blocks) {
    Ranges ranges;
    for (const Block block : blocks) ranges.push_back({Buffer::scratch, arrived + block, 1});
    return ranges;
  };
  for (Rank mask = 1; mask < b.ranks(); mask *= 2) {
    const Rank partner = b.rank() ^ mask;
    const auto now = [&](const std::vector<Block>& blocks) {
      return begun ? partial.at(blocks) : patterns::input_blocks(blocks);
    };
    b.round();
    b.send(partner, now(all_but(b.blocks(), side(fold, b.rank(), mask))));
    b.receive(partner, arrivals(all_but(b.blocks(), side(fold, partner, mask))));
    b.round();  // what is sent may be overwritten only after it has left
    std::vector<Block> useful = all_but(b.blocks(), side(fold, b.rank(), 2 * mask));
    patterns::append(useful, fold.stands_for(b.rank()));
    b.reduce(arrivals(useful), partial.at(useful), partner < b.rank() ? Side::left : Side::right, now(useful));
    begun = true;
  }
}

std::int64_t sent(const Shape& s, const Params&) {
  const std::int64_t handed_over = patterns::is_power_of_two(s.ranks) ? 0 : 1;
  return handed_over + patterns::folded_chain(s.ranks, [](const Fold& fold, Rank place, Rank mask) {
           return fold.ranks - std::min(side(fold, place, mask).count, side(fold, place ^ mask, mask).count);
         });
}

std::int64_t combined(const Shape& s, const Params&) {
  return patterns::folded_chain(s.ranks, [](const Fold& fold, Rank place, Rank mask) {
    return fold.ranks - side(fold, place, 2 * mask).count + fold.stands_for(place).count;
  });
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce_scatter/recursive_doubling",
    .summary = "partners at distance 1, 2, 4, … exchange almost whole vectors; few rounds, in rank order",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.4",
    .volume = "lg p - (p-1)/p if p = 2^k, else up to 1 + floor(lg p)",
    .collective = Collective::reduce_scatter,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t {
      return patterns::floor_log2(s.ranks) + (patterns::is_power_of_two(s.ranks) ? 0 : 2);
    },
    .sent = sent,
    .combined = combined,
    .build = [](Builder& b, const Shape&, const Params&) { patterns::folded_reduce_scatter(b, need, among); },
};

}  // namespace stretto::algorithms::reduce_scatter_recursive_doubling

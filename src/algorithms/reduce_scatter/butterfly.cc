// SPDX-License-Identifier: BSD-3-Clause
//
// reduce_scatter/butterfly: partners at distance 1, 2, 4, … halve a vector whose blocks are taken in mirrored order.
//
//   rounds    lg p if p = 2^k; else 2 + floor(lg p)
//   volume    (p-1)/p of the vector if p = 2^k; else 2 to 2.25 vectors
//   combined  the same; if p is not 2^k, less the block handed over in the end
//   scratch   half a vector; one vector on ranks that stand for two
//   needs     nothing: rank order is kept
//   source    Träff 2005 (improved algorithm for non-commutative reduce-scatter)
//
// Neighbours meet first, so partial results cover intervals of ranks. After the exchange at distance d a rank keeps the
// blocks whose number has its own last bits: in the order of mirrored bits they lie together, and the last one left is
// its own, so the blocks need not be exchanged in the end. Only the first message gathers blocks that lie apart. If p
// is no power of two, pairs are folded: the odd rank sends its vector to the even one and gets its block in the end.
//
//   p = 4, blocks sent   rank 0: 13 to 1, 2 to 2   rank 1: 02 to 0, 3 to 3   rank 2: 13 to 3, 0 to 0

#include "algorithms/list.hpp"
#include "algorithms/patterns/folded_scatter.hpp"

namespace stretto::algorithms::reduce_scatter_butterfly {
namespace {

using patterns::Fold;
using patterns::PartialBlocks;

/// The last bits of n, as many as `size` = 2^k counts, in reverse order.
Rank mirrored(Rank n, Rank size) {
  Rank m = 0;
  for (; size > 1; size /= 2, n /= 2) m = 2 * m + n % 2;
  return m;
}

/// The blocks for which the kept ranks u = place (mod `step`) stand, u in mirrored order.
std::vector<Block> blocks_of(const Fold& fold, Rank place, Rank step) {
  std::vector<Block> blocks;
  const Rank kept = fold.ranks - fold.surplus;
  const Rank count = kept / step;
  for (Rank i = 0; i < count; ++i) patterns::append(blocks, fold.stands_for(place % step + mirrored(i, count) * step));
  return blocks;
}

std::vector<Block> need(const Fold& fold, Rank place) { return blocks_of(fold, place, place < fold.surplus ? 1 : 2); }

void among(Builder& b, const Fold& fold, const PartialBlocks& partial, bool begun) {
  for (Rank mask = 1; mask < b.ranks(); mask *= 2) {
    const Rank partner = b.rank() ^ mask;
    const std::vector<Block> keep = blocks_of(fold, b.rank(), 2 * mask);
    const auto now = [&](const std::vector<Block>& blocks) {
      return begun ? partial.at(blocks) : patterns::input_blocks(blocks);
    };
    b.round();
    b.send(partner, now(blocks_of(fold, partner, 2 * mask)));
    b.receive_reduce(partner, partial.at(keep), partner < b.rank() ? Side::left : Side::right, now(keep));
    begun = true;
  }
}

/// How many blocks_of() there are.
Block number_of(const Fold& fold, Rank place, Rank step) {
  const Rank first = place % step;
  const Rank pairs = fold.surplus > first ? (fold.surplus - first - 1) / step + 1 : 0;
  return (fold.ranks - fold.surplus) / step + pairs;
}

std::int64_t sent(const Shape& s, const Params&) {
  const std::int64_t handed_over = patterns::is_power_of_two(s.ranks) ? 0 : 1;
  return handed_over + patterns::folded_chain(s.ranks, [](const Fold& fold, Rank place, Rank mask) {
           return std::max(number_of(fold, place, 2 * mask), number_of(fold, place ^ mask, 2 * mask));
         });
}

std::int64_t combined(const Shape& s, const Params&) {
  return patterns::folded_chain(
      s.ranks, [](const Fold& fold, Rank place, Rank mask) { return number_of(fold, place, 2 * mask); });
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce_scatter/butterfly",
    .summary = "vector halving with distance doubling of mirrored blocks; least volume if p = 2^k, in rank order",
    .source = "Träff 2005",
    .volume = "(p-1)/p if p = 2^k, else 2 to 2.25",
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

}  // namespace stretto::algorithms::reduce_scatter_butterfly

// SPDX-License-Identifier: BSD-3-Clause
//
// reduce_scatter/halving: partners at distance p/2, p/4, …, 1 exchange what the other's half of the ranks needs.
//
//   rounds    lg p if p = 2^k; else 2 + floor(lg p)
//   volume    (p-1)/p of the vector if p = 2^k; else 2 to 2.4 vectors
//   combined  the same; if p is not 2^k, less the block handed over in the end
//   scratch   half a vector; one vector on ranks that stand for two
//   needs     a commutative operator
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.4
//
// If p is no power of two, pairs of ranks are folded: the odd one sends its vector to the even one (in the paper the
// other way round) and gets its block in the end. The paper gives 2 vectors as an approximation that leaves out the
// imbalance; of p blocks the longest chain has p for the fold, then the blocks of the lower half, quarter, … of the
// ranks, then 1.
//
//   p = 4, blocks sent   rank 0: 23 to 2, 1 to 1   rank 1: 23 to 3, 0 to 0   rank 2: 01 to 0, 3 to 3

#include "algorithms/list.hpp"
#include "algorithms/patterns/folded_scatter.hpp"

namespace stretto::algorithms::reduce_scatter_halving {
namespace {

using patterns::Fold;
using patterns::PartialBlocks;

std::vector<Block> blocks_of(const Fold& fold, Rank first, Rank count) {
  std::vector<Block> blocks;
  patterns::append(blocks, fold.stands_for(first, count));
  return blocks;
}

std::vector<Block> need(const Fold& fold, Rank place) {
  const Rank half = (fold.ranks - fold.surplus) / 2;
  if (place < fold.surplus) return blocks_of(fold, 0, 2 * half);
  return blocks_of(fold, place / half * half, half);
}

void among(Builder& b, const Fold& fold, const PartialBlocks& partial, bool begun) {
  for (Rank half = b.ranks() / 2; half > 0; half /= 2) {
    const Rank partner = b.rank() ^ half;
    const std::vector<Block> keep = blocks_of(fold, b.rank() / half * half, half);
    const std::vector<Block> give = blocks_of(fold, partner / half * half, half);
    const auto now = [&](const std::vector<Block>& blocks) {
      return begun ? partial.at(blocks) : patterns::input_blocks(blocks);
    };
    b.round();
    b.send(partner, now(give));
    b.receive_reduce(partner, partial.at(keep), partner < b.rank() ? Side::left : Side::right, now(keep));
    begun = true;
  }
}

std::int64_t combined(const Shape& s, const Params&) {
  const Fold fold(s.ranks, no_rank);
  Block sum = fold.surplus > 0 ? s.ranks : 0;
  for (Rank half = (s.ranks - fold.surplus) / 2; half > 0; half /= 2) sum += fold.stands_for(0, half).count;
  return sum;
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce_scatter/halving",
    .summary =
        "partners at distance p/2, p/4, … exchange halves; least volume in the fewest single-message rounds if p = 2^k",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.4",
    .volume = "(p-1)/p if p = 2^k, else 2 to 2.4",
    .collective = Collective::reduce_scatter,
    .needs = {.commutative = true},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t {
      return patterns::floor_log2(s.ranks) + (patterns::is_power_of_two(s.ranks) ? 0 : 2);
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      return combined(s, params) + (patterns::is_power_of_two(s.ranks) ? 0 : 1);
    },
    .combined = combined,
    .build = [](Builder& b, const Shape&, const Params&) { patterns::folded_reduce_scatter(b, need, among); },
};

}  // namespace stretto::algorithms::reduce_scatter_halving

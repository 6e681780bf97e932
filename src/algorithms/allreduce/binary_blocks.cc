// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/binary_blocks: subsets of 2^k ranks halve the vector each for itself, hand over to the next larger, and
// back.
//
//   rounds    2 lg p if p = 2^k; else 1 + 2 floor(lg p)
//   volume    2(p-1)/p of the vector if p = 2^k; else 2 to 3.5 vectors, more the further apart the bits of p are
//   combined  (p-1)/p of the vector if p = 2^k; else 1 to 1.5 vectors
//   scratch   none
//   needs     nothing: rank order is kept
//   source    Rabenseifner 2004, section 3.6; Thakur, Rabenseifner and Gropp 2005, section 5.2
//
// The papers give no formula, but name the largest gap between two bits of p as what counts: a subset of 2^e ranks
// gets vector/2^e from the next larger one. Of B blocks the reduce-scatter combines B - 1 if p = 2^k, else B and B/2^e
// more for each subset of 2^e ranks but the two smallest; the way back is measured by a recursion over the subsets.
// One bit far below the others makes allreduce/halving_doubling or allreduce/circulant the better choice.
//
//   p = 13   8 ranks have one block each, 4 ranks two, 1 rank all eight   12→8 9 10 11   8→0 4 9→1 5 10→2 6 11→3 7

#include "algorithms/patterns/binary_blocks.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::allreduce_binary_blocks {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  const patterns::BinaryBlocks subsets(b.ranks(), b.rank());
  patterns::binary_blocks_reduce_scatter(b, subsets, Buffer::output);
  patterns::binary_blocks_allgather(b, subsets);
}

std::int64_t sent(const Shape& shape, const Params&) {
  const patterns::BinaryBlocks subsets(shape.ranks);
  const std::vector<Block> before = patterns::binary_blocks_sent(subsets);
  const Block blocks = subsets.size[0];
  Block most = 0;
  Block begun = before[0];  // by the present subset, when it has gathered what it held after its reduce-scatter
  for (std::size_t s = 0; s < subsets.size.size(); ++s) {
    const bool smallest = s + 1 == subsets.size.size();
    const Block held = blocks / subsets.size[s];
    const Block passed_on = smallest ? 0 : blocks / subsets.size[s + 1];
    most = std::max(most, begun + blocks - held + passed_on / 2);
    if (!smallest) begun = std::max(before[s + 1] + passed_on, begun + passed_on / 2 - held) + passed_on;
  }
  return most;
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/binary_blocks",
    .summary = "halving and doubling in subsets of 2^k ranks joined at the end; few rounds for any p, in rank order",
    .source = "Rabenseifner 2004, section 3.6; Thakur, Rabenseifner and Gropp 2005, section 5.2",
    .volume = "2(p-1)/p if p = 2^k, else 2 to 3.5",
    .collective = Collective::allreduce,
    .needs = {},
    .blocks = patterns::kept_ranks,
    .rounds = [](const Shape& s, const Params&) -> std::int64_t {
      return 2 * patterns::floor_log2(s.ranks) + (patterns::is_power_of_two(s.ranks) ? 0 : 1);
    },
    .sent = sent,
    .combined = [](const Shape& s, const Params&) -> std::int64_t {
      return patterns::binary_blocks_sent(patterns::BinaryBlocks(s.ranks))[0];
    },
    .build = build,
};

}  // namespace stretto::algorithms::allreduce_binary_blocks

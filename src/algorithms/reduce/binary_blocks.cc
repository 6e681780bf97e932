// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/binary_blocks: subsets of 2^k ranks halve the vector, hand over to the next larger, the largest one gathers.
//
//   rounds    2 lg p if p = 2^k; else 1 + 2 floor(lg p), and 1 more if the root is not in the largest subset
//   volume    2(p-1)/p of the vector if p = 2^k; else 1.5 to 2.5 vectors, more the further apart the bits of p are
//   combined  (p-1)/p of the vector if p = 2^k; else 1 to 1.5 vectors
//   scratch   one vector, not on the root
//   needs     nothing: rank order is kept
//   source    Rabenseifner 2004, section 3.6; Thakur, Rabenseifner and Gropp 2005, section 5.2
//
// The papers give no formula; see allreduce/binary_blocks. A root outside the largest subset, the first 2^floor(lg p)
// ranks, gets rank 0's block and takes its place in the gather.

#include "algorithms/patterns/binary_blocks.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::reduce_binary_blocks {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  const Rank root = shape.root;
  const Buffer work = b.rank() == root ? Buffer::output : Buffer::scratch;
  if (work == Buffer::scratch) b.new_scratch(0, b.blocks());
  const patterns::BinaryBlocks subsets(b.ranks(), b.rank());
  patterns::binary_blocks_reduce_scatter(b, subsets, work);
  const bool outside = root >= subsets.size[0];
  if (outside) {
    b.round();
    if (b.rank() == 0) b.send(root, {{work, 0, 1}});
    if (b.rank() == root) b.receive(0, output(0));
  }
  const bool gathers = outside ? b.rank() == root || (subsets.largest() && b.rank() != 0) : subsets.largest();
  const Members gathering{subsets.size[0],
                          !gathers                      ? no_rank
                          : b.rank() == root && outside ? 0
                                                        : b.rank(),
                          [&](Rank place) { return outside && place == 0 ? root : place; }};
  b.in_group(gathering, [&](Builder& group) { patterns::doubling_gather(group, outside ? 0 : root, work); });
}

std::int64_t sent(const Shape& shape, const Params&) {
  const patterns::BinaryBlocks subsets(shape.ranks, shape.root);
  const Block blocks = subsets.size[0];
  const std::vector<Block> before = patterns::binary_blocks_sent(subsets);
  if (subsets.largest()) return before[0] + blocks - 1;
  return std::max(before[0], before[subsets.mine] + blocks / subsets.size[subsets.mine]) + 1 + blocks - 1;
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce/binary_blocks",
    .summary = "halving in subsets of 2^k ranks joined at the end, then gather; few rounds for any p, in rank order",
    .source = "Rabenseifner 2004, section 3.6; Thakur, Rabenseifner and Gropp 2005, section 5.2",
    .volume = "2(p-1)/p if p = 2^k, else 1.5 to 2.5",
    .collective = Collective::reduce,
    .needs = {},
    .blocks = patterns::kept_ranks,
    .rounds = [](const Shape& s, const Params&) -> std::int64_t {
      const Rank largest = patterns::floor_power_of_two(s.ranks);
      return 2 * patterns::floor_log2(s.ranks) + (s.ranks == largest ? 0 : 1) + (s.root < largest ? 0 : 1);
    },
    .sent = sent,
    .combined = [](const Shape& s, const Params&) -> std::int64_t {
      return patterns::binary_blocks_sent(patterns::BinaryBlocks(s.ranks))[0];
    },
    .build = build,
};

}  // namespace stretto::algorithms::reduce_binary_blocks

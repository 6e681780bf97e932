// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/binary_tree: every place v of a binary tree sends the vector to 2v + 1, then to 2v + 2.
//
//   rounds    the largest floor(lg i) + (ones in i) - 1 of i = 1 … p: 2 lg(p+1) - 2 if the tree is full
//   volume    as many vectors as rounds; with many segments 2 vectors at each place that has two children
//   combined  none
//   scratch   none
//   needs     nothing
//   source    folklore; the pipelined binary tree of every MPI library
//
// Meant to be cut into segments. Going down left costs one round and right two, as the binary digits of v + 1 tell.
//
//   p = 6, root 0   0→1   0→2 1→3   1→4 2→5

#include <algorithm>
#include <bit>

#include "algorithms/list.hpp"
#include "algorithms/patterns/groups.hpp"

namespace stretto::algorithms::bcast_binary_tree {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  b.in_group(patterns::from_root(b, shape.root), [](Builder& places) {
    const Rank v = places.rank();
    if (v > 0) places.receive((v - 1) / 2, output(0));
    for (const std::int64_t child : {std::int64_t{2} * v + 1, std::int64_t{2} * v + 2}) {
      places.round();
      if (child < places.ranks()) places.send(static_cast<Rank>(child), output(0));
    }
  });
}

/// Until place v = i - 1 has the vector. The latest i is p, or p with a digit 1 made 0 and all lower ones 1.
int rounds_until(Rank i) { return patterns::floor_log2(i) + std::popcount(static_cast<std::uint32_t>(i)) - 1; }

std::int64_t latest(const Shape& s) {
  int rounds = rounds_until(s.ranks);
  for (std::int64_t digit = 1; digit <= s.ranks; digit *= 2)
    if ((s.ranks & digit) != 0)
      rounds = std::max(rounds, rounds_until(static_cast<Rank>((s.ranks & ~digit) | (digit - 1))));
  return rounds;
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/binary_tree",
    .summary = "down a binary tree; for many segments",
    .source = "folklore; the pipelined binary tree of every MPI library",
    .volume = "2 floor(lg p), or one less",
    .collective = Collective::bcast,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return latest(s); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return latest(s); },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::bcast_binary_tree

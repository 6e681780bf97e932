// SPDX-License-Identifier: BSD-3-Clause
//
// exscan/binary_tree: totals of subtrees go up a tree in rank order, then prefixes come down.
//
//   rounds    at most 2 floor(lg p), with at most two messages each way in a round
//   volume    at most 3 floor(lg p) vectors along the longest chain; a rank sends and receives at most three
//   combined  up to 2 vectors a level on both ways
//   scratch   up to three vectors
//   needs     nothing: rank order is kept
//   source    pipelined in-order binary trees of Sanders and Träff 2006
//
// A rank is the middle of the interval of ranks that its subtree is. Only what a later rank needs is sent: no totals
// of intervals that end with the last rank, no prefixes to those that begin with the first. The numbers are computed.
//
//   p = 7   up: 0→1 2→1 4→5, 1→3   down: 1→2 3→5, 5→4 5→6

#include "algorithms/list.hpp"
#include "algorithms/patterns/tree_scan.hpp"

namespace stretto::algorithms::exscan_binary_tree {
namespace {

void build(Builder& b, const Shape&, const Params&) { patterns::TreeScan(b, false).build(); }

patterns::Clock longest(const Shape& s) { return patterns::TreeScanCost(s.ranks, false).longest(); }

}  // namespace

constinit const Algorithm record{
    .id = "exscan/binary_tree",
    .summary = "totals up and prefixes down an in-order binary tree; for long vectors in segments",
    .source = "Sanders and Träff 2006",
    .volume = "at most 3 floor(lg p)",
    .collective = Collective::exscan,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return longest(s).rounds; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return longest(s).sent; },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return longest(s).combined; },
    .build = build,
};

}  // namespace stretto::algorithms::exscan_binary_tree

// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/two_tree: every second block goes down one of two binary trees, in which no rank has children twice.
//
//   rounds    at most n - 2 + 2 ceil(lg p)
//   volume    as many blocks as rounds: about one vector, if it is cut into many
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Sanders, Speck and Träff 2009
//
// The parameter "pieces" is n; its default knows nothing of bytes: rules set it. Trees and timing are explained in
// patterns/two_tree.hpp. A single binary tree moves two vectors through the ranks that have children.
//
//   p = 4, root 0, n = 2   trees 0→2→{1 3} and 0→3→{1 2}

#include <algorithm>
#include <optional>
#include <vector>

#include "algorithms/list.hpp"
#include "algorithms/patterns/groups.hpp"
#include "algorithms/patterns/two_tree.hpp"

namespace stretto::algorithms::bcast_two_tree {
namespace {

using patterns::TwoTree;

/// The tables take time for every place, and are kept for the schedules of other ranks that may follow.
const TwoTree& trees_of(Rank ranks, Block blocks) {
  thread_local std::optional<TwoTree> last;
  if (!last || !last->fits(ranks, blocks)) last.emplace(ranks, blocks);
  return *last;
}

/// From rank 0.
void broadcast(Builder& b) {
  const TwoTree& trees = trees_of(b.ranks(), b.blocks());
  const Rank me = b.rank();
  for (std::int64_t round = 0; round < trees.rounds(); ++round) {
    b.round();
    for (const int tree : {0, 1}) {
      for (const Rank child : trees.children(tree, me))
        if (const Block block = child == 0 ? TwoTree::none : trees.received(child, tree, round); block != TwoTree::none)
          b.send(child, output(block));
      if (const Block block = me == 0 ? TwoTree::none : trees.received(me, tree, round); block != TwoTree::none)
        b.receive(trees.parent(tree, me), output(block));
    }
  }
}

void build(Builder& b, const Shape& shape, const Params&) { b.in_group(patterns::from_root(b, shape.root), broadcast); }

/// Rounds in which a rank has nothing to do do not count.
std::int64_t rounds(const Shape& shape, const Params& params) {
  const TwoTree& trees = trees_of(shape.ranks, params.value);
  std::vector<std::int64_t> now(static_cast<std::size_t>(shape.ranks), 0);
  std::vector<char> busy(now.size());
  for (std::int64_t round = 0; round < trees.rounds(); ++round) {
    const std::vector<std::int64_t> before = now;
    std::fill(busy.begin(), busy.end(), 0);
    for (Rank place = 1; place < shape.ranks; ++place)
      for (const int tree : {0, 1}) {
        if (trees.received(place, tree, round) == TwoTree::none) continue;
        const auto to = static_cast<std::size_t>(place), from = static_cast<std::size_t>(trees.parent(tree, place));
        now[to] = std::max(now[to], before[from]);
        busy[to] = busy[from] = 1;
      }
    for (std::size_t place = 0; place < now.size(); ++place) now[place] += busy[place];
  }
  return *std::max_element(now.begin(), now.end());
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/two_tree",
    .summary = "every second block down one of two binary trees; full bandwidth for many blocks",
    .source = "Sanders, Speck and Träff 2009",
    .volume = "(n-2+2 ceil(lg p))/n, or less",
    .collective = Collective::bcast,
    .needs = {},
    .parameter = {.name = "pieces", .least = 1, .default_value = [](const Shape&) -> std::int64_t { return 8; }},
    .blocks = [](const Shape&, const Params& params) -> Block { return params.value; },
    .rounds = rounds,
    .sent = rounds,
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::bcast_two_tree

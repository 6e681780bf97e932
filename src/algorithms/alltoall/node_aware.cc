// SPDX-License-Identifier: BSD-3-Clause
//
// alltoall/node_aware: blocks for a node go to the rank there that has the sender's place, which hands them out.
//
//   rounds    (N-1) + (n-1)   for N nodes of n ranks
//   volume    ((N-1)·n + (n-1)·N)/p of the vector: about two vectors, in messages of n and of N blocks
//   combined  none
//   scratch   (N-1)·(n-1) blocks, those that are handed out
//   needs     nothing, but `group` = n must divide p
//   source    full-lane alltoall of Träff and Hunold, arXiv 1910.13373; the node-aware one of arXiv 2601.17606 with as
//             many leaders as ranks; both steps pairwise
//
// Ranks are numbered node by node. `group` is at best the ranks of a node. The default makes both steps short and knows
// nothing of nodes: rules set it.
//
//   p = 6, group=2, rank 0   to 2: blocks for 2 3   to 4: blocks for 4 5   to 1: blocks for 1 of ranks 0 2 4

#include "algorithms/list.hpp"
#include "algorithms/patterns/groups.hpp"

namespace stretto::algorithms::alltoall_node_aware {
namespace {

using patterns::modulo;

struct Nodes {
  Rank ranks, group, count;  ///< of all ranks, ranks in a node, nodes
  Rank node, place;          ///< mine

  Nodes(const Builder& b, std::int64_t n)
      : ranks(b.ranks()),
        group(static_cast<Rank>(n)),
        count(b.ranks() / group),
        node(b.rank() / group),
        place(b.rank() % group) {}
  Rank rank(Rank at_node, Rank at_place) const { return at_node * group + at_place; }
};

void build(Builder& b, const Shape&, const Params& params) {
  const Nodes all(b, params.value);
  b.copy(input(b.rank()), output(b.rank()));
  // from_node[n][m]: where the block for place m of my node, from the rank of node n in my lane, stands
  std::vector<Ranges> from_node(static_cast<std::size_t>(all.count));
  for (Rank i = 1; i < all.count; ++i) {
    const Rank to = modulo(all.node + i, all.count);
    const Rank from = modulo(all.node - i, all.count);
    const Rank source = all.rank(from, all.place);
    Ranges& blocks = from_node[static_cast<std::size_t>(from)];
    for (Rank m = 0; m < all.group; ++m)
      blocks.push_back(m == all.place ? Range{Buffer::output, source, 1}
                                      : Range{Buffer::scratch,
                                              b.new_scratch(Block{source} * all.ranks + all.rank(all.node, m), 1), 1});
    b.round();
    b.send(all.rank(to, all.place), input(all.rank(to, 0), all.group));
    b.receive(source, blocks);
  }
  for (Rank i = 1; i < all.group; ++i) {
    const Rank to = modulo(all.place + i, all.group);
    const Rank from = modulo(all.place - i, all.group);
    Ranges leaving;
    Ranges arriving;
    for (Rank n = 0; n < all.count; ++n) {
      leaving.push_back(n == all.node ? Range{Buffer::input, all.rank(n, to), 1}
                                      : from_node[static_cast<std::size_t>(n)][static_cast<std::size_t>(to)]);
      arriving.push_back({Buffer::output, all.rank(n, from), 1});
    }
    b.round();
    b.send(all.rank(all.node, to), leaving);
    b.receive(all.rank(all.node, from), arriving);
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "alltoall/node_aware",
    .summary = "first to the same place on the right node, then inside of the node; few messages",
    .source = "Träff and Hunold, arXiv 1910.13373; arXiv 2601.17606",
    .volume = "((N-1)n + (n-1)N)/p for N nodes of n ranks",
    .collective = Collective::alltoall,
    .needs = {},
    .parameter = {.name = "group", .least = 1, .default_value = patterns::default_group},
    .forwards = true,
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return s.ranks / params.value - 1 + params.value - 1;
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      const std::int64_t nodes = s.ranks / params.value;
      return (nodes - 1) * params.value + (params.value - 1) * nodes;
    },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::group_misfit,
};

}  // namespace stretto::algorithms::alltoall_node_aware

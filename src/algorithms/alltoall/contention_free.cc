// SPDX-License-Identifier: BSD-3-Clause
//
// alltoall/contention_free: straight to their ranks in phases, in none of which two messages share a link of the tree.
//
//   rounds    n0·(p-n0), the most messages that any link must carry in one direction; at a vertex of the tree without a
//             branch of more than p/2 ranks, n0 are those in its largest branch
//   volume    n0·(p-n0)/p of the vector at most: in every phase the busiest link carries a block
//   combined  none
//   scratch   none
//   needs     nothing; p <= 2048, since every rank works out the phases of all
//   source    Faraj and Yuan, Message scheduling for all-to-all personalized communication on Ethernet switched
//   clusters,
//             IPDPS 2005
//
// "nodes" is the tree; `stretto show --topology` makes it from a file. Most ranks are idle in a phase; messages without
// blocks keep them from going ahead. It is for long messages behind links that are slower than the ranks together: else
// alltoall/pairwise needs p - 1 rounds. Which rank sends and receives when differs from the paper: any tree is served.
//
//   nodes=0:0:1:1   phase 1: 0→3 2→0   phase 2: 0→2 1→0 2→1 3→2   phase 3: 0→1 1→2 2→3 3→0   phase 4: 1→3 3→1

#include "algorithms/list.hpp"
#include "algorithms/patterns/tree_phases.hpp"
#include "stretto/builder.hpp"

namespace stretto::algorithms::alltoall_contention_free {
namespace {

constexpr Rank most_ranks = 2048;

void build(Builder& b, const Shape& shape, const Params& params) {
  using patterns::TreePhases;
  const auto phases =
      patterns::last_made<TreePhases>([&] { return TreePhases(shape.ranks, params.list); }, shape.ranks, params.list);
  b.copy(input(b.rank()), output(b.rank()));
  std::int64_t now = -1;
  for (const patterns::PhaseMessage& m : phases->messages()) {
    if (m.from != b.rank() && m.to != b.rank()) continue;
    if (now >= 0 && m.phase != now) b.round();
    now = m.phase;
    if (m.from == b.rank()) b.send(m.to, m.block ? input(m.to) : Ranges{});
    if (m.to == b.rank()) b.receive(m.from, m.block ? output(m.from) : Ranges{});
  }
}

std::int64_t phases_of(const Shape& shape, const Params& params) {
  const patterns::Nodes nodes(shape.ranks, params.list, 0);
  return patterns::TreePhases::count_of(patterns::branches_of(nodes, shape.ranks), shape.ranks);
}

/// Where some ranks are idle in a phase, no rank waits for a block in each.
bool idle(const Shape& shape, const Params& params) { return phases_of(shape, params) >= shape.ranks; }

std::string misfit(const Shape& shape, const Params& params) {
  if (shape.ranks > most_ranks)
    return "the phases of " + std::to_string(shape.ranks) + " ranks are too many: " + std::to_string(most_ranks) +
           " ranks are the most";
  // Segments in flight would be in different phases, whose messages share links.
  if (params.segment > 0) return "phases are not cut into segments";
  return patterns::nodes_misfit(shape, params);
}

}  // namespace

constinit const Algorithm record{
    .id = "alltoall/contention_free",
    .summary = "in phases that share no link of a tree of switches, as few as its busiest link allows",
    .source = "Faraj and Yuan, IPDPS 2005",
    .volume = "at most n0(p-n0)/p for n0 ranks in the largest branch",
    .collective = Collective::alltoall,
    .needs = {},
    .list = "nodes",
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = phases_of,
    .sent = phases_of,
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = misfit,
    .at_most = idle,
};

}  // namespace stretto::algorithms::alltoall_contention_free

// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/leaders: the vector goes down a tree of leaders, one of each node, which send it to all ranks of their nodes.
//
//   rounds    ceil(log_k N) on N nodes, and 1 on them; with radix=1 N - 1 and 1
//   volume    (k-1) ceil(log_k N) vectors or less, and n-1 on a node of n ranks; radix=1: N - 1 and n-1 along the chain
//   combined  none
//   scratch   none
//   needs     nothing
//   source    trees that know the levels of the network: Karonis et al. 2000; Kielmann et al., PPoPP 1999 (MagPIe)
//
// The root leads its node, and the lowest ranks the others. The list "nodes" says which node each rank is on; with
// further levels there is a tree in every group, too. The parameter "radix" is k; 1 makes a chain of leaders, for many
// segments: each node receives the vector once and sends it once.
//
//   nodes=0:0:1:1, root 1   1→2   1→0 2→3

#include "algorithms/patterns/leaders.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::bcast_leaders {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::Leaders leaders(shape, params, shape.root, params.value);
  patterns::leaders_bcast(b, leaders.place(b.rank()));
}

}  // namespace

constinit const Algorithm record{
    .id = "bcast/leaders",
    .summary = "down a tree or chain of one leader for each node, then from the leaders to their nodes",
    .source = "Karonis et al. 2000; Kielmann et al., PPoPP 1999",
    .volume = "(k-1) ceil(log_k N) + n-1 for N nodes of n ranks, or less",
    .collective = Collective::bcast,
    .needs = {},
    .parameter = {.name = "radix", .least = 1, .default_value = [](const Shape&) -> std::int64_t { return 2; }},
    .list = "nodes",
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::leaders_rounds(s, params, params.value);
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::leaders_vectors(s, params, params.value);
    },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = patterns::uneven_nodes,
};

}  // namespace stretto::algorithms::bcast_leaders

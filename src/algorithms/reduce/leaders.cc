// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/leaders: every node is reduced at its leader, and the leaders' results go up a tree to the root.
//
//   rounds    1 on the nodes, and ceil(log_k N) for N nodes; with radix=1 N - 1
//   volume    n-1 vectors on a node of n ranks, and (k-1) ceil(log_k N) or less; radix=1: N - 1 along the chain
//   combined  as many vectors as sent
//   scratch   one vector, on leaders but the root
//   needs     a commutative operator
//   source    trees that know the levels of the network: Karonis et al. 2000; Kielmann et al., PPoPP 1999 (MagPIe)
//
// bcast/leaders backwards: "nodes" and "radix" are as there.
//
//   nodes=0:0:1:1, root 1   0→1 3→2   2→1

#include "algorithms/patterns/leaders.hpp"
#include "algorithms/list.hpp"

namespace stretto::algorithms::reduce_leaders {
namespace {

void build(Builder& b, const Shape& shape, const Params& params) {
  const patterns::Leaders leaders(shape, params, shape.root, params.value);
  patterns::in_order_reduce(b, patterns::upwards(leaders.place(b.rank())));
}

std::int64_t vectors(const Shape& s, const Params& params) {
  return patterns::leaders_vectors(s, params, params.value);
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce/leaders",
    .summary = "one leader for each node combines its ranks' vectors, then up a tree or chain of the leaders",
    .source = "Karonis et al. 2000; Kielmann et al., PPoPP 1999",
    .volume = "n-1 + (k-1) ceil(log_k N) for N nodes of n ranks, or less",
    .collective = Collective::reduce,
    .needs = {.commutative = true},
    .parameter = {.name = "radix", .least = 1, .default_value = [](const Shape&) -> std::int64_t { return 2; }},
    .list = "nodes",
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::leaders_rounds(s, params, params.value);
    },
    .sent = vectors,
    .combined = vectors,
    .build = build,
    .misfit = patterns::nodes_misfit,
    .at_most = patterns::uneven_nodes,
};

}  // namespace stretto::algorithms::reduce_leaders

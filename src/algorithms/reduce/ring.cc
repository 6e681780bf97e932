// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/ring: pairwise reduce-scatter, then every rank sends its complete block straight to the root.
//
//   rounds    2(p-1)
//   volume    2(p-1)/p of the vector along the longest chain
//   combined  (p-1)/p of the vector
//   scratch   one block, not on the root
//   needs     a commutative operator
//   source    Rabenseifner 2004, section 3.7; Thakur, Rabenseifner and Gropp 2005, section 5.3
//
// As good in bandwidth as halving, for any p; for few ranks and long vectors. The root hears the others one by one.
//
//   p = 4, root 0   rounds 1 to 3 as reduce_scatter/pairwise   rounds 4 to 6: 1→0, 2→0, 3→0

#include "algorithms/list.hpp"
#include "algorithms/patterns/pairwise.hpp"

namespace stretto::algorithms::reduce_ring {
namespace {

void build(Builder& b, const Shape& shape, const Params&) {
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  const bool root = b.rank() == shape.root;
  const Ranges own = root ? output(b.rank()) : scratch(b.new_scratch(b.rank(), 1));
  patterns::pairwise_reduce_scatter(b, own);
  if (!root) {
    b.round();
    return b.send(shape.root, own);
  }
  for (Rank i = 1; i < b.ranks(); ++i) {
    const Rank sender = patterns::modulo(shape.root + i, b.ranks());
    b.round();
    b.receive(sender, output(sender));
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "reduce/ring",
    .summary = "pairwise reduce-scatter, then all blocks straight to the root; long vectors on few ranks",
    .source = "Rabenseifner 2004, section 3.7; Thakur, Rabenseifner and Gropp 2005, section 5.3",
    .volume = "2(p-1)/p",
    .collective = Collective::reduce,
    .needs = {.commutative = true},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return 2 * (s.ranks - 1); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .build = build,
};

}  // namespace stretto::algorithms::reduce_ring

// SPDX-License-Identifier: BSD-3-Clause
//
// bcast/binomial: whoever has the vector sends it on, to the largest remaining part first.
//
//   rounds    ceil(lg p)
//   volume    ceil(lg p) vectors from the root
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.2
//
//   p = 5, root 0   round 1: 0→4   round 2: 0→2   round 3: 0→1 2→3

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::bcast_binomial {
namespace {

void build(Builder& b, const Shape& shape, const Params&) { patterns::knomial_bcast(b, shape.root, 2); }

}  // namespace

constinit const Algorithm record{
    .id = "bcast/binomial",
    .summary = "whoever has the vector sends it on along a binomial tree; fewest single-message rounds",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.2",
    .volume = "ceil(lg p)",
    .collective = Collective::bcast,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::bcast_binomial

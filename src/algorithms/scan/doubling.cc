// SPDX-License-Identifier: BSD-3-Clause
//
// scan/doubling: in round k rank r sends the reduction of the ranks r-2^k+1 … r to the rank 2^k further on.
//
//   rounds    ceil(lg p)
//   volume    ceil(lg p) vectors
//   combined  ceil(lg p) vectors
//   scratch   up to two vectors
//   needs     nothing: rank order is kept
//   source    Hillis and Steele 1986; the all-inclusive member of the family of exscan/doubling
//
// An exclusive scan of that family with one combination more would be inclusive as well, in as many rounds; but one
// that keeps its inclusive partial results needs a single operation in every round.
//
//   p = 5   round 1: 0→1 1→2 2→3 3→4   round 2: 0→2 1→3 2→4   round 3: 0→4

#include "algorithms/list.hpp"
#include "algorithms/patterns/scan.hpp"

namespace stretto::algorithms::scan_doubling {
namespace {

void build(Builder& b, const Shape&, const Params&) { patterns::doubling_scan(b); }

}  // namespace

constinit const Algorithm record{
    .id = "scan/doubling",
    .summary =
        "every rank sends the reduction of the last 1, 2, 4, … ranks as far on; fewest single-message rounds, one "
        "operation each",
    .source = "Hillis and Steele 1986",
    .volume = "ceil(lg p)",
    .collective = Collective::scan,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .build = build,
};

}  // namespace stretto::algorithms::scan_doubling

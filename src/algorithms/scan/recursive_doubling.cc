// SPDX-License-Identifier: BSD-3-Clause
//
// scan/recursive_doubling: partners r and r xor 2^k exchange the reductions of the intervals of 2^k ranks they are in.
//
//   rounds    ceil(lg p)
//   volume    ceil(lg p) vectors
//   combined  between 2 ceil(lg p) - 4 and 2 ceil(lg p) - 2 vectors (p > 2): one for the interval, one for the prefix
//   scratch   up to two vectors
//   needs     nothing: rank order is kept
//   source    recursive doubling as in MPICH's scan
//
// Unlike there, no rank sends or combines what nobody needs: the interval of rank r is wanted while r + 2^k < p.
//
//   p = 6   round 1: 0↔1 2↔3 4→5   round 2: 0→2 1→3   round 3: 0→4 1→5

#include "algorithms/list.hpp"
#include "algorithms/patterns/scan.hpp"

namespace stretto::algorithms::scan_recursive_doubling {
namespace {

void build(Builder& b, const Shape&, const Params&) { patterns::recursive_doubling_scan(b, true); }

}  // namespace

constinit const Algorithm record{
    .id = "scan/recursive_doubling",
    .summary = "partners at distance 1, 2, 4, … exchange the reductions of their intervals of ranks",
    .source = "MPICH's scan",
    .volume = "ceil(lg p)",
    .collective = Collective::scan,
    .needs = {},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return patterns::ceil_log2(s.ranks); },
    .combined = [](const Shape& s, const Params&) -> std::int64_t {
      return patterns::recursive_doubling_scan_combined(s.ranks, true);
    },
    .build = build,
};

}  // namespace stretto::algorithms::scan_recursive_doubling

// SPDX-License-Identifier: BSD-3-Clause
//
// exscan/doubling: shifts that about double: first of prefixes with the own contribution, then of prefixes alone.
//
//   rounds    ceil(lg p) if `inclusive` rounds suffice for it, else 1 more
//   volume    as many vectors as rounds
//   combined  2 vectors in every inclusive round but the first, which has none; 1 in every other; less at the end of
//             the chain where few ranks are left
//   scratch   up to two vectors
//   needs     nothing: rank order is kept
//   source    Träff, arXiv 2507.04785 ("123-doubling" is inclusive=2) and 2604.25667
//
// `inclusive` is the number of inclusive rounds. Rank r knows the s ranks before it: an inclusive round makes 2s+1 of
// s, an exclusive one 2s. The default is the smallest number with which ceil(lg p) rounds, the fewest, are enough.
//
//   p = 8, inclusive=2   round 1: r→r+1 [r]   round 2: r→r+2 [r-1 r]   round 3: r→r+3 [r-3 … r-1], but not from 0

#include "algorithms/list.hpp"
#include "algorithms/patterns/scan.hpp"

namespace stretto::algorithms::exscan_doubling {
namespace {

using patterns::shift_rounds;

std::int64_t fewest_inclusive(const Shape& s) { return patterns::fewest_inclusive(s.ranks); }

void build(Builder& b, const Shape& s, const Params& params) {
  patterns::doubling_exscan(b, shift_rounds(s.ranks, params.value));
}

}  // namespace

constinit const Algorithm record{
    .id = "exscan/doubling",
    .summary = "shifts that about double (1, 2, 3, 6, 12, … with inclusive=2): few rounds with few operations",
    .source = "Träff, arXiv 2507.04785 and 2604.25667",
    .volume = "ceil(lg p), or 1 more",
    .collective = Collective::exscan,
    .needs = {},
    .parameter = {.name = "inclusive", .least = 1, .default_value = fewest_inclusive},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return static_cast<std::int64_t>(shift_rounds(s.ranks, params.value).size());
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t {
      return static_cast<std::int64_t>(shift_rounds(s.ranks, params.value).size());
    },
    .combined = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::doubling_exscan_combined(s.ranks, shift_rounds(s.ranks, params.value));
    },
    .build = build,
};

}  // namespace stretto::algorithms::exscan_doubling

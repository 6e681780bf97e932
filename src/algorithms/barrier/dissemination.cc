// SPDX-License-Identifier: BSD-3-Clause
//
// barrier/dissemination: in round i everybody tells the ranks z k^i further on, z < k, of all that it knows came.
//
//   rounds    ceil(log_k p), of up to k - 1 messages
//   volume    none: empty messages
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Hensgen, Finkel and Manber (1988)
//
// The parameter "radix" is k.
//
//   p = 4, k = 2   round 1: 0→1 1→2 2→3 3→0   round 2: 0→2 1→3 2→0 3→1

#include <algorithm>

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::barrier_dissemination {
namespace {

void build(Builder& b, const Shape&, const Params& params) {
  const std::int64_t p = b.ranks();
  const std::int64_t radix = patterns::usable_radix(params.value, b.ranks());
  for (std::int64_t distance = 1; distance < p; distance *= radix) {
    b.round();
    for (std::int64_t d = distance; d < std::min(distance * radix, p); d += distance) {
      b.send(patterns::modulo(b.rank() + static_cast<Rank>(d), b.ranks()), {});
      b.receive(patterns::modulo(b.rank() - static_cast<Rank>(d), b.ranks()), {});
    }
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "barrier/dissemination",
    .summary = "everybody tells the ranks z k^i further on, z < k, in round i; fewest single-message rounds if k = 2",
    .source = "Hensgen, Finkel and Manber 1988",
    .volume = "0",
    .collective = Collective::barrier,
    .needs = {},
    .parameter = {.name = "radix", .least = 2, .default_value = [](const Shape&) -> std::int64_t { return 2; }},
    .blocks = [](const Shape&, const Params&) -> Block { return 1; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::ceil_log(s.ranks, params.value);
    },
    .sent = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::barrier_dissemination

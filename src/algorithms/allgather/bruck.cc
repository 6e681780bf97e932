// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/bruck: a rank with n blocks, counted from its own, gets the next (k-1) n from k - 1 ranks.
//
//   rounds    ceil(log_k p), of up to k - 1 messages
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Bruck et al. 1997; Thakur, Rabenseifner and Gropp 2005, section 4.1.2
//
// The parameter "radix" is k: 2 is the paper's algorithm, k - 1 the number of ports of Bruck et al. Blocks arrive where
// they belong, so nothing is rotated in the end.
//
//   p = 5, k = 2, blocks arriving at rank 0: 1, then 2 3, then 4

#include <algorithm>

#include "algorithms/list.hpp"
#include "algorithms/patterns/knomial.hpp"

namespace stretto::algorithms::allgather_bruck {
namespace {

void build(Builder& b, const Shape&, const Params& params) {
  b.copy(input(b.rank()), output(b.rank()));
  const std::int64_t p = b.ranks();
  const std::int64_t radix = patterns::usable_radix(params.value, b.ranks());
  for (std::int64_t have = 1; have < p; have *= radix) {
    b.round();
    for (std::int64_t distance = have; distance < std::min(have * radix, p); distance += have) {
      const auto d = static_cast<Rank>(distance);
      const Block count = std::min(have, p - distance);
      b.send(patterns::modulo(b.rank() - d, b.ranks()), wrapped(Buffer::output, b.rank(), count, p));
      b.receive(patterns::modulo(b.rank() + d, b.ranks()), wrapped(Buffer::output, b.rank() + d, count, p));
    }
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/bruck",
    .summary =
        "every rank passes on all it has to the ranks z k^i before it, z < k; fewest single-message rounds if k = 2",
    .source = "Bruck et al. 1997; Thakur, Rabenseifner and Gropp 2005, section 4.1.2",
    .volume = "(p-1)/p",
    .collective = Collective::allgather,
    .needs = {},
    .parameter = {.name = "radix", .least = 2, .default_value = [](const Shape&) -> std::int64_t { return 2; }},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return patterns::ceil_log(s.ranks, params.value);
    },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::allgather_bruck

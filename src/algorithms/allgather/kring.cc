// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/kring: blocks walk around rings of k neighbouring ranks, and between two such walks from ring to ring.
//
//   rounds    p - 1, of which p/k - 1 between groups
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   none
//   needs     k that divides p
//   source    the k-ring of Wilkins et al., CLUSTER 2023, as in MPICH
//
// The parameter "group" is k, the ranks of a group, best those of a node. Between groups every rank talks to the one in
// its place, so all of them share that work. The default, the largest divisor of p that is not above its square root,
// knows nothing of nodes: rules set it.
//
//   p = 4, k = 2   0↔1 2↔3   0↔2 1↔3 [own]   0↔1 2↔3 [what came last]

#include "algorithms/list.hpp"
#include "algorithms/patterns/groups.hpp"

namespace stretto::algorithms::allgather_kring {
namespace {

void build(Builder& b, const Shape&, const Params& params) {
  b.copy(input(b.rank()), output(b.rank()));
  const Rank p = b.ranks();
  const auto k = static_cast<Rank>(params.value);
  const Rank group = b.rank() / k * k;  // its first rank
  const Rank place = b.rank() % k;
  const auto member = [&](Rank shift) { return patterns::modulo(place + shift, k); };
  for (Rank behind = 0; behind < p; behind += k) {
    const Rank from = patterns::modulo(group - behind, p);  // the group whose blocks are here
    for (Rank t = 0; t < k - 1; ++t) {
      b.round();
      b.send(group + member(1), output(from + member(-t)));
      b.receive(group + member(-1), output(from + member(-t - 1)));
    }
    if (behind + k == p) return;
    b.round();
    b.send(patterns::modulo(b.rank() + k, p), output(from + place));
    b.receive(patterns::modulo(b.rank() - k, p), output(patterns::modulo(from - k, p) + place));
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/kring",
    .summary = "rings of k neighbours, and steps from ring to ring by all ranks at once",
    .source = "the k-ring of Wilkins et al., CLUSTER 2023, as in MPICH",
    .volume = "(p-1)/p",
    .collective = Collective::allgather,
    .needs = {},
    .parameter = {.name = "group", .least = 1, .default_value = patterns::default_group},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .misfit = patterns::group_misfit,
};

}  // namespace stretto::algorithms::allgather_kring

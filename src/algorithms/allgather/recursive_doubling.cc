// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/recursive_doubling: partners at distance 1, 2, 4, … exchange all they have.
//
//   rounds    lg p; else more: each incomplete subtree hands what it got on to those without a partner
//   volume    (p-1)/p of the gathered vector; else more along the longest chain (every rank still receives p-1 blocks)
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Thakur, Rabenseifner and Gropp 2005, section 4.1
//
// The paper bounds the rounds by 2 floor(lg p) for any p; p = 3 already needs 3 (0↔1, 0↔2, 0→1). In a subtree of n
// ranks with m = the power of two below n, the upper n-m ranks meet as many of the lower m, which then tell the rest.
//
//   p = 5   0↔1 2↔3   0↔2 1↔3   0↔4   0→1   0→2 1→3

#include <algorithm>

#include "algorithms/list.hpp"
#include "algorithms/patterns/powers.hpp"

namespace stretto::algorithms {
namespace {

/// Ranks base … base+n-1 of an aligned subtree come to know all of each other's blocks.
void gather(Builder& b, Rank base, Rank n) {
  if (n == 1) return;
  const Rank lower = Rank{1} << (patterns::ceil_log2(n) - 1);
  const Rank upper = n - lower;
  const Rank place = b.rank() - base;
  if (place < lower)
    gather(b, base, lower);
  else
    gather(b, base + lower, upper);

  b.round();
  if (place < upper) {
    b.send(b.rank() + lower, output(base, lower));
    b.receive(b.rank() + lower, output(base + lower, upper));
  } else if (place >= lower) {
    b.send(b.rank() - lower, output(base + lower, upper));
    b.receive(b.rank() - lower, output(base, lower));
  }
  for (Rank informed = upper; informed < lower; informed *= 2) {
    b.round();
    if (place < informed && place + informed < lower) b.send(b.rank() + informed, output(base + lower, upper));
    if (place >= informed && place < std::min(2 * informed, lower))
      b.receive(b.rank() - informed, output(base + lower, upper));
  }
}

void build(Builder& b, const Shape&, const Params&) {
  b.copy(input(b.rank()), output(b.rank()));
  gather(b, 0, b.ranks());
}

struct Chain {
  std::int64_t rounds, blocks;
};

Chain chain(Rank n) {
  if (n == 1) return {0, 0};
  const Rank lower = Rank{1} << (patterns::ceil_log2(n) - 1);
  const Rank upper = n - lower;
  const Chain a = chain(lower);
  const Chain z = chain(upper);
  std::int64_t telling = 0;
  for (Rank informed = upper; informed < lower; informed *= 2) ++telling;
  return {std::max(a.rounds, z.rounds) + 1 + telling, std::max(a.blocks, z.blocks) + lower + telling * upper};
}

}  // namespace

constinit const Algorithm allgather_recursive_doubling{
    .id = "allgather/recursive_doubling",
    .summary = "partners at distance 1, 2, 4, … exchange all they have; best if p = 2^k",
    .source = "Thakur, Rabenseifner and Gropp 2005, section 4.1",
    .volume = "(p-1)/p if p = 2^k, else more",
    .collective = Collective::allgather,
    .needs = {},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return chain(s.ranks).rounds; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return chain(s.ranks).blocks; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms

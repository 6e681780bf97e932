// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/neighbour_exchange: a rank meets its two neighbours by turns and tells the one the other's news.
//
//   rounds    p/2
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   none
//   needs     an even number of ranks
//   source    Chen, Zhang, Zhang and Yuan (2005); as in Open MPI
//
// The first round exchanges one block, all others two.
//
//   p = 6   0↔1 2↔3 4↔5   1↔2 3↔4 5↔0 [both blocks of the pair]   0↔1 2↔3 4↔5 [what came last]

#include "algorithms/list.hpp"
#include "algorithms/patterns/powers.hpp"

namespace stretto::algorithms::allgather_neighbour_exchange {
namespace {

void build(Builder& b, const Shape&, const Params&) {
  b.copy(input(b.rank()), output(b.rank()));
  const Rank p = b.ranks();
  const Rank side = b.rank() % 2 == 0 ? 1 : -1;  // where the first partner is
  const Rank pair = b.rank() - b.rank() % 2;     // our first rank; news is of pairs further and further away
  Block last = pair;
  b.round();
  b.send(b.rank() + side, output(b.rank()));
  b.receive(b.rank() + side, output(b.rank() + side));
  for (Rank t = 1; t < p / 2; ++t) {
    const Rank to = t % 2 == 0 ? side : -side;
    const Rank partner = patterns::modulo(b.rank() + to, p);
    const Block news = patterns::modulo(pair + to * 2 * ((t + 1) / 2), p);
    b.round();
    b.send(partner, output(last, 2));
    b.receive(partner, output(news, 2));
    last = news;
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/neighbour_exchange",
    .summary = "neighbours exchange what they learnt last; half the rounds of a ring",
    .source = "Chen, Zhang, Zhang and Yuan 2005",
    .volume = "(p-1)/p",
    .collective = Collective::allgather,
    .needs = {.ranks = RanksNeeded::even},
    .blocks = [](const Shape& s, const Params&) -> Block { return s.ranks; },
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks / 2; },
    .sent = [](const Shape& s, const Params&) -> std::int64_t { return s.ranks - 1; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
};

}  // namespace stretto::algorithms::allgather_neighbour_exchange

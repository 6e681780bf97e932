// SPDX-License-Identifier: BSD-3-Clause
//
// reduce/circulant_blocks: n blocks follow each other to the root along a circulant graph: the broadcast backwards.
//
//   rounds    n - 1 + ceil(lg p): the least possible for n blocks
//   volume    (n - 1 + ceil(lg p)) / n of the vector
//   combined  (n - 1 + ceil(lg p)) / n of the vector
//   scratch   one vector at most, not on the root
//   needs     a commutative operator
//   source    Träff, arXiv 2407.18004
//
// The parameter "pieces" is n. The schedule is explained in patterns/circulant_blocks.hpp. With a round's cost a and a
// byte's cost b the best n for m bytes is sqrt((ceil(lg p) - 1) m b / a); the default knows no m: rules set it.
//
//   p = 3, root 0, n = 2   round 1: 2→0 [1], 1→2 [0]   round 2: 1→0 [1]   round 3: 2→0 [0]

#include "algorithms/patterns/circulant_blocks.hpp"
#include "algorithms/list.hpp"
#include "algorithms/patterns/groups.hpp"

namespace stretto::algorithms::reduce_circulant_blocks {
namespace {

using patterns::CirculantBlocks;

/// To rank 0.
void reduce(Builder& b) {
  if (b.ranks() == 1) return b.copy(input(0, b.blocks()), output(0, b.blocks()));
  const CirculantBlocks schedule(b.ranks(), b.blocks());
  const CirculantBlocks::Row sends = schedule.receives(b.rank());  // time runs backwards
  const CirculantBlocks::Row receives = schedule.sends(b.rank());
  std::vector<Ranges> now;  // where the partial results are
  for (Block block = 0; block < b.blocks(); ++block) now.push_back(input(block));
  for (std::int64_t round = schedule.rounds() - 1; round >= 0; --round) {
    const Rank skip = schedule.skip_of_round(round);
    const Block leaving = schedule.block(sends, round);
    const Block arriving = schedule.block(receives, round);
    b.round();
    if (leaving != CirculantBlocks::none)
      b.send(patterns::modulo(b.rank() - skip, b.ranks()), now[static_cast<std::size_t>(leaving)]);
    if (arriving == CirculantBlocks::none) continue;
    const Ranges operand = now[static_cast<std::size_t>(arriving)];
    Ranges& target = now[static_cast<std::size_t>(arriving)];
    if (operand[0].buffer == Buffer::input)
      target = b.rank() == 0 ? output(arriving) : scratch(b.new_scratch(arriving, 1));
    b.receive_reduce(patterns::modulo(b.rank() + skip, b.ranks()), target, Side::right, operand);
  }
}

void build(Builder& b, const Shape& shape, const Params&) { b.in_group(patterns::from_root(b, shape.root), reduce); }

std::int64_t rounds(const Shape& s, const Params& params) { return CirculantBlocks::rounds(s.ranks, params.value); }

}  // namespace

constinit const Algorithm record{
    .id = "reduce/circulant_blocks",
    .summary = "n blocks follow each other on a circulant graph; fewest rounds for n blocks, for any p",
    .source = "Träff, arXiv 2407.18004",
    .volume = "(n-1+ceil(lg p))/n",
    .collective = Collective::reduce,
    .needs = {.commutative = true},
    .parameter = {.name = "pieces", .least = 1, .default_value = [](const Shape&) -> std::int64_t { return 8; }},
    .blocks = [](const Shape&, const Params& params) -> Block { return params.value; },
    .rounds = rounds,
    .sent = rounds,
    .combined = rounds,
    .build = build,
};

}  // namespace stretto::algorithms::reduce_circulant_blocks

// SPDX-License-Identifier: BSD-3-Clause
//
// allgather/circulant_blocks: every rank broadcasts its part in n blocks along one circulant graph, all at once.
//
//   rounds    n - 1 + ceil(lg p)
//   volume    (p-1)/p of the gathered vector: the least possible
//   combined  none
//   scratch   none
//   needs     nothing
//   source    Träff, arXiv 2312.11236 and 2407.18004
//
// The parameter "pieces" is n. With several blocks no message is large because one part is: parts of different sizes
// cost about (n - 1 + ceil(lg p)) / n of the vector less the own part, where the other algorithms of few rounds may
// move the largest part once in every round. Messages are of single blocks. The default knows nothing of
// bytes: rules set n. For the schedule see patterns/circulant_blocks.hpp.
//
//   p = 3, n = 2, blocks [part.block] arriving at rank 0: [1.0], then [2.1], then [1.1 2.0]

#include <vector>

#include "algorithms/list.hpp"
#include "algorithms/patterns/circulant_blocks.hpp"

namespace stretto::algorithms::allgather_circulant_blocks {
namespace {

using patterns::CirculantBlocks;

Parts parts(const Shape& shape, const Params& params) {
  Parts parts;
  for (Rank r = 0; r <= shape.ranks; ++r) parts.first.push_back(r * params.value);
  return parts;
}

void build(Builder& b, const Shape&, const Params& params) {
  const Rank p = b.ranks();
  const Block n = params.value;
  const CirculantBlocks schedule(p, n);
  std::vector<CirculantBlocks::Row> rows;  // by places
  for (Rank v = 0; v < p; ++v) rows.push_back(schedule.receives(v));
  const auto arriving_at = [&](Rank rank, std::int64_t round) {
    Ranges ranges;
    for (Rank root = 0; root < p; ++root) {
      const auto place = static_cast<std::size_t>(patterns::modulo(rank - root, p));
      const Block block = schedule.block(rows[place], round);
      if (block != CirculantBlocks::none) ranges.push_back({Buffer::output, root * n + block, 1});
    }
    return ranges;
  };
  b.copy(input(b.rank() * n, n), output(b.rank() * n, n));
  for (std::int64_t round = 0; round < schedule.rounds(); ++round) {
    const Rank skip = schedule.skip_of_round(round);
    const Rank to = patterns::modulo(b.rank() + skip, p);
    b.round();
    b.send(to, arriving_at(to, round));
    b.receive(patterns::modulo(b.rank() - skip, p), arriving_at(b.rank(), round));
  }
}

}  // namespace

constinit const Algorithm record{
    .id = "allgather/circulant_blocks",
    .summary = "all ranks broadcast n blocks at once on a circulant graph; for parts of different sizes",
    .source = "Träff, arXiv 2312.11236 and 2407.18004",
    .volume = "(p-1)/p",
    .collective = Collective::allgather,
    .needs = {},
    .parameter = {.name = "pieces", .least = 1, .default_value = [](const Shape&) -> std::int64_t { return 4; }},
    .blocks = [](const Shape& s, const Params& params) -> Block { return s.ranks * params.value; },
    .rounds = [](const Shape& s, const Params& params) -> std::int64_t {
      return CirculantBlocks::rounds(s.ranks, params.value);
    },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t { return (s.ranks - 1) * params.value; },
    .combined = [](const Shape&, const Params&) -> std::int64_t { return 0; },
    .build = build,
    .parts = parts,
};

}  // namespace stretto::algorithms::allgather_circulant_blocks

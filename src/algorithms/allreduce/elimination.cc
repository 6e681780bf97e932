// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/elimination: neighbours halve the vector; where their number is odd, three of them leave two; then back.
//
//   rounds    2 ceil(lg p)
//   volume    2(p-1)/p of the vector if p = 2^k; below 3 vectors for odd p, below 2.5 for p = 2 mod 4, …
//   combined  half as much; with B = 2^floor(lg p) blocks and 2^v dividing p: B - 1 + B / 2^(v+1) blocks
//   scratch   none
//   needs     nothing: rank order is kept
//   source    Rabenseifner and Träff 2004 (3-2 elimination); the arrangement of the triples is this library's
//
// The ranks that hold the same segment form a list of L. Pairs of neighbours (a, c) split it: a keeps the lower half, c
// the upper. If L is odd the first three (a, b, c) do: b and c exchange halves, then b gives its lower half to a and
// retires, and a its upper half to c. Both halves go on with lists of floor(L/2). A second round of a triple delays no
// other triple, so ceil(lg p) rounds are enough; the way back is the exact reverse.
//
//   p = 3   1↔2 halves, then 1→0 lower, 0→2 upper; back: 0→1 lower, 2→0 upper, then 1→2 lower, 2→1 upper

#include <numeric>

#include "algorithms/list.hpp"
#include "algorithms/patterns/halving.hpp"

namespace stretto::algorithms::allreduce_elimination {
namespace {

struct Step {
  Rank a, b, c;  ///< b is no_rank in a pair
  Ranges lower, upper;
};

/// The pairs and triples that `me` meets, until it retires or is alone.
std::vector<Step> steps_of(Rank me, Rank ranks, Block blocks) {
  std::vector<Step> steps;
  std::vector<Rank> list(static_cast<std::size_t>(ranks));
  std::iota(list.begin(), list.end(), 0);
  for (Block first = 0, half = blocks / 2; list.size() > 1; half /= 2) {
    std::vector<Rank> lower, upper;
    for (std::size_t i = 0; i < list.size(); i += i == 0 && list.size() % 2 == 1 ? 3 : 2) {
      const bool triple = i == 0 && list.size() % 2 == 1;
      const Step step{list[i], triple ? list[i + 1] : no_rank, list[i + (triple ? 2 : 1)], output(first, half),
                      output(first + half, half)};
      lower.push_back(step.a);
      upper.push_back(step.c);
      if (me == step.a || me == step.b || me == step.c) steps.push_back(step);
    }
    if (me == steps.back().b) break;
    const bool in_upper = me == steps.back().c;
    if (in_upper) first += half;
    list = in_upper ? upper : lower;
  }
  return steps;
}

/// Partial results go to the output; they come from there too, but for the first step.
void halve(Builder& b, const Step& step, Buffer from) {
  const Rank me = b.rank();
  const Rank of_c = step.b == no_rank ? step.a : step.b;  // who exchanges halves with c
  Ranges lower = step.lower;
  Ranges upper = step.upper;
  lower[0].buffer = upper[0].buffer = from;
  b.round();
  b.send(me == step.c ? of_c : step.c, me == step.c ? lower : upper);
  if (me == step.c) {
    b.receive_reduce(of_c, step.upper, Side::left, upper);
    if (of_c == step.a) return;
    b.round();
    b.receive_reduce(step.a, step.upper, Side::left);
  } else if (me == of_c) {
    b.receive_reduce(step.c, step.lower, Side::right, lower);
    if (of_c == step.a) return;
    b.round();
    b.send(step.a, step.lower);
  } else {
    b.receive_reduce(of_c, step.lower, Side::right, lower);
  }
}

/// Transfers the halves of `step` the other way round.
void rejoin(Builder& b, const Step& step) {
  const Rank me = b.rank();
  const Rank of_c = step.b == no_rank ? step.a : step.b;
  b.round();
  if (of_c != step.a) {
    if (me != step.b) b.send(me == step.a ? step.b : step.a, me == step.a ? step.lower : step.upper);
    if (me == step.a) return b.receive(step.c, step.upper);
    if (me == step.b) b.receive(step.a, step.lower);
    b.round();
  }
  b.send(me == step.c ? of_c : step.c, me == step.c ? step.upper : step.lower);
  b.receive(me == step.c ? of_c : step.c, me == step.c ? step.lower : step.upper);
}

void build(Builder& b, const Shape&, const Params&) {
  if (b.ranks() == 1) return b.copy(input(0), output(0));
  const std::vector<Step> steps = steps_of(b.rank(), b.ranks(), b.blocks());
  for (const Step& step : steps) halve(b, step, &step == &steps.front() ? Buffer::input : Buffer::output);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) rejoin(b, *step);
}

std::int64_t combined(const Shape& s, const Params&) {
  const std::int64_t blocks = patterns::kept_ranks(s);
  return blocks - 1 + blocks / (2 * (s.ranks & -s.ranks));
}

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/elimination",
    .summary = "halving and back where three ranks leave two; below 3 vectors in few rounds for any p, in rank order",
    .source = "Rabenseifner and Träff 2004",
    .volume = "2(p-1)/p if p = 2^k, below 3 else",
    .collective = Collective::allreduce,
    .needs = {},
    .blocks = patterns::kept_ranks,
    .rounds = [](const Shape& s, const Params&) -> std::int64_t { return 2 * patterns::ceil_log2(s.ranks); },
    .sent = [](const Shape& s, const Params& params) -> std::int64_t { return 2 * combined(s, params); },
    .combined = combined,
    .build = build,
};

}  // namespace stretto::algorithms::allreduce_elimination

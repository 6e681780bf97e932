// SPDX-License-Identifier: BSD-3-Clause
//
// allreduce/dual_root: two binary trees, one for each half of the ranks; partial results go up while results come down.
//
//   rounds    at most 3n + 4 ceil(lg p) - 9 for n blocks and p >= 5; the record counts them
//   volume    rounds / n of the vector, about 3 vectors
//   combined  about 3 vectors along the longest chain; a rank combines 2, a root 3
//   scratch   one vector, on the two roots
//   needs     nothing: rank order is kept
//   source    Träff, arXiv 2109.12626 (with trees in post-order; here in order)
//
// The parameter "pieces" is n; its default knows nothing of bytes: rules set it. For each block j a rank meets its
// children and then its parent, both ways at once: block j goes up, and at depth d block j - d comes down complete. The
// roots exchange their halves' results, so that no broadcast follows.
//
//   p = 6   trees 0→1←2 and 3→4←5   block j: 0→1 2→1 3→4 5→4 1↔4, with block j - 1 on the way down

#include "algorithms/list.hpp"
#include "algorithms/patterns/clock.hpp"
#include "algorithms/patterns/in_order.hpp"

namespace stretto::algorithms::allreduce_dual_root {
namespace {

/// Where a rank is in its half's tree; ranks are those of the communicator.
struct Place {
  std::vector<Rank> children;
  Rank parent = no_rank;
  Rank other_root;
  Block depth = 0;

  Place(Rank me, Rank ranks) {
    const Rank lower = ranks / 2;
    const Rank first = me < lower ? 0 : lower;
    const Rank size = me < lower ? lower : ranks - lower;
    const auto at = [&](Rank rank) { return patterns::in_order_binary(rank, size, size / 2); };
    const patterns::InOrderPlace place = at(me - first);
    for (const std::vector<Rank>& child : place.children) children.push_back(child[0] + first);
    if (place.parent != no_rank) parent = place.parent + first;
    for (Rank up = place.parent; up != no_rank; up = at(up).parent) ++depth;
    other_root = me < lower ? lower + (ranks - lower) / 2 : lower / 2;
  }
};

void build(Builder& b, const Shape&, const Params&) {
  const Block n = b.blocks();
  if (b.ranks() == 1) return b.copy(input(0, n), output(0, n));
  const Place place(b.rank(), b.ranks());
  const bool root = place.parent == no_rank;
  const Block arrived = b.new_scratch(0, root ? n : 0);
  const auto side = [&](Rank peer) { return peer < b.rank() ? Side::left : Side::right; };
  for (Block j = 0; j <= n + place.depth; ++j) {
    const Block from_parent = j - place.depth;
    const Block to_children = from_parent - 1;
    Ranges mine = input(j);
    for (const Rank child : place.children) {
      b.round();
      if (to_children >= 0 && to_children < n) b.send(child, output(to_children));
      if (j < n) b.receive_reduce(child, output(j), side(child), mine);
      mine = output(j);
    }
    b.round();
    if (j < n) b.send(root ? place.other_root : place.parent, mine);
    if (!root && from_parent >= 0 && from_parent < n) b.receive(place.parent, output(from_parent));
    if (!root || j >= n) continue;
    b.receive(place.other_root, scratch(arrived + j));
    b.round();  // what is sent may be overwritten only after it has left
    b.reduce(scratch(arrived + j), output(j), side(place.other_root), mine);
  }
}

using patterns::Clock;

/// Plays the rounds of all ranks, in which each sends and receives one block at most.
Clock longest_chain(const Shape& s, const Params& params) {
  if (s.ranks == 1) return {};
  const Block n = params.value;
  std::vector<Place> places;
  std::vector<Rank> leaves_first;
  Block deepest = 0;
  for (Rank r = 0; r < s.ranks; ++r) {
    places.emplace_back(r, s.ranks);
    leaves_first.push_back(r);
    deepest = std::max(deepest, places.back().depth);
  }
  const auto place_of = [&](Rank r) -> const Place& { return places[static_cast<std::size_t>(r)]; };
  std::stable_sort(leaves_first.begin(), leaves_first.end(),
                   [&](Rank a, Rank b) { return place_of(a).depth > place_of(b).depth; });
  std::vector<Clock> clocks(places.size());
  const auto meet = [&](Rank one, bool sends, Rank other, bool answers) {
    Clock& a = clocks[static_cast<std::size_t>(one)];
    Clock& b = clocks[static_cast<std::size_t>(other)];
    const Clock before = a;
    if (answers) a.wait_for(b);
    if (sends) b.wait_for(before);
    a.rounds += sends || answers ? 1 : 0;
    b.rounds += sends || answers ? 1 : 0;
  };
  for (Block j = 0; j <= n + deepest; ++j) {
    for (const Rank r : leaves_first)
      for (const Rank child : place_of(r).children) {
        const Block down = j - place_of(child).depth;
        meet(child, j < n, r, down >= 0 && down < n);
        clocks[static_cast<std::size_t>(r)].combined += j < n ? 1 : 0;
      }
    if (j >= n) continue;
    const Rank roots[] = {place_of(s.ranks - 1).other_root, place_of(0).other_root};
    meet(roots[0], true, roots[1], true);
    for (const Rank root : roots) ++clocks[static_cast<std::size_t>(root)].combined;
  }
  return patterns::latest(clocks);
}

std::int64_t rounds(const Shape& s, const Params& params) { return longest_chain(s, params).rounds; }

}  // namespace

constinit const Algorithm record{
    .id = "allreduce/dual_root",
    .summary = "blocks go up two binary trees while complete ones come down; long vectors in few rounds, in rank order",
    .source = "Träff, arXiv 2109.12626",
    .volume = "at most (3n+4 ceil(lg p)-9)/n for p >= 5",
    .collective = Collective::allreduce,
    .needs = {},
    .parameter = {.name = "pieces", .least = 1, .default_value = [](const Shape&) -> std::int64_t { return 8; }},
    .blocks = [](const Shape&, const Params& params) -> Block { return params.value; },
    .rounds = rounds,
    .sent = rounds,
    .combined = [](const Shape& s, const Params& params) { return longest_chain(s, params).combined; },
    .build = build,
};

}  // namespace stretto::algorithms::allreduce_dual_root

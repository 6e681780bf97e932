// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "algorithms/patterns/powers.hpp"
#include "stretto/error.hpp"

namespace stretto::simulation {
namespace {

constexpr Rank few_ranks = 32;              // are simulated at once
constexpr Rank longest_period = 64;         // that is looked for
constexpr std::size_t most_kept = 1 << 16;  // ranges of a schedule that is looked at again

using Signature = std::vector<std::int64_t>;

/// All that time depends on, with peers by their distance. Within a round their order is left out.
Signature signature(const Schedule& s, const Symmetry& symmetry) {
  Signature all;
  std::vector<std::pair<std::int64_t, std::int64_t>> out, in;
  for (const Round& round : s.rounds) {
    out.clear();
    in.clear();
    std::int64_t combined = 0, copied = 0;
    for (const Send& send : s.sends_of(round))
      out.emplace_back(symmetry.distance(s.rank, send.peer), blocks_in(s.at(send.blocks)));
    for (const Action& a : s.actions_of(round)) {
      const Block blocks = blocks_in(s.at(a.target));
      if (is_receive(a.kind)) in.emplace_back(symmetry.distance(s.rank, a.peer), blocks);
      if (a.kind == ActionKind::receive_reduce || a.kind == ActionKind::reduce) combined += blocks;
      if (a.kind == ActionKind::copy) copied += blocks;
    }
    for (auto* messages : {&out, &in}) {
      std::stable_sort(messages->begin(), messages->end());
      all.push_back(-static_cast<std::int64_t>(messages->size()) - 1);
      for (const auto& [distance, blocks] : *messages) all.insert(all.end(), {distance, blocks});
    }
    all.insert(all.end(), {combined, copied});
  }
  return all;
}

struct Finder {
  const Algorithm& algorithm;
  const Shape& shape;
  const Params& params;
  const Budget& budget;
  std::map<Rank, Schedule> built = {};

  /// Do all ranks that are looked at what the ranks below `base` do?
  bool holds(Symmetry::Kind kind, Rank base) {
    const Symmetry symmetry{kind, shape.ranks, base};
    const Rank p = shape.ranks;
    std::map<Rank, Signature> stand_ins;
    const std::int64_t wide = p;
    for (const std::int64_t r : {wide - 1, wide / 2, std::int64_t{base}, wide / 3, 2 * wide / 3, wide / 2 - 1,
                                 wide / 2 + base, wide - 2, 5 * wide / 7, wide / 4 + 1, 3 * wide / 5, wide / 11}) {
      const auto rank = static_cast<Rank>(r % wide);  // p / 2 + base may be p
      const Rank for_it = rank % base;
      if (!stand_ins.contains(for_it)) stand_ins[for_it] = signature_of(for_it, symmetry);
      if (rank != for_it && signature_of(rank, symmetry) != stand_ins[for_it]) return false;
    }
    return true;
  }

  Signature signature_of(Rank rank, const Symmetry& symmetry) {
    const auto found = built.find(rank);
    if (found != built.end()) return signature(found->second, symmetry);
    Schedule fresh = build_schedule(algorithm, shape, rank, params);
    const Signature s = signature(fresh, symmetry);
    if (budget.left() < 0)
      too_large(algorithm, shape,
                "to build its schedules takes more than " + std::to_string(std::llround(budget.seconds())) + " s");
    if (fresh.ranges.size() < most_kept) built.emplace(rank, std::move(fresh));
    return s;
  }
};

/// Ranks of a node if nodes are even and consecutive; 0 if not. Without nodes any period may be one.
Rank node_period(const Algorithm& algorithm, const Shape& shape, const Params& params) {
  if (algorithm.list != "nodes") return 1;
  const auto p = static_cast<std::size_t>(shape.ranks);
  const std::vector<Rank>& list = params.list;
  if (list.size() != p) return 0;
  const auto n = static_cast<std::size_t>(std::ranges::count(list, list[0]));
  std::set<Rank> seen;
  for (std::size_t r = 0; r < p; ++r)
    if (r % n == 0 ? !seen.insert(list[r]).second : list[r] != list[r - 1]) return 0;
  return p % n == 0 ? static_cast<Rank>(n) : 0;
}

}  // namespace

void too_large(const Algorithm& algorithm, const Shape& shape, const std::string& why) {
  throw Error(
      std::string(algorithm.id) + " on " + std::to_string(shape.ranks) + " ranks is too large to simulate: " + why,
      "take fewer ranks, or an algorithm of fewer rounds");
}

Symmetry find_symmetry(const Algorithm& algorithm, const Shape& shape, const Params& given, const Placement& placement,
                       const Budget& budget) {
  const CollectiveFacts& collective = facts(algorithm.collective);
  const Rank p = shape.ranks;
  const Rank node = std::min(placement.ranks_per_node, p);
  const Symmetry none{Symmetry::Kind::none, p, p};
  // Lists of users and files may have exceptions that a sample does not show.
  if (algorithm.file || (algorithm.list == "order" && !given.list.empty())) return none;
  if (p <= few_ranks || collective.rooted || collective.prefix || !shape.counts.empty() || p % node != 0) return none;
  const Params params = resolved(algorithm, shape, given);
  Finder finder{algorithm, shape, params, budget};
  const Rank own_node = node_period(algorithm, shape, params);
  if (own_node == 0) return none;
  const auto group = static_cast<Rank>(std::clamp<std::int64_t>(params.value, 1, longest_period));
  for (const Rank base : {Rank{1}, Rank{2}, group, own_node}) {
    const Rank period = std::lcm(base, node);
    if (base % own_node != 0 || p % base != 0 || period >= p || p % period != 0) continue;
    if (finder.holds(Symmetry::Kind::rotation, base)) return {Symmetry::Kind::rotation, p, period};
  }
  if (own_node == 1 && patterns::is_power_of_two(p) && patterns::is_power_of_two(node) && node < p &&
      finder.holds(Symmetry::Kind::exclusive_or, 1))
    return {Symmetry::Kind::exclusive_or, p, node};
  return none;
}

}  // namespace stretto::simulation

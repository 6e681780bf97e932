// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "algorithms/patterns/powers.hpp"
#include "stretto/rules.hpp"

namespace stretto {
namespace {

bool holds(const Rule& rule, const Call& call) {
  if (rule.function != call.function || !rule.bytes.holds(call.bytes) ||
      !rule.part.holds(call.bytes / call.shape.ranks) || !rule.ranks.holds(call.shape.ranks))
    return false;
  if (rule.balanced && !blocks_balanced(call.shape.ranks, call.bytes)) return false;
  const bool power = patterns::is_power_of_two(call.shape.ranks);
  if (rule.ranks_are == RanksAre::power_of_two && !power) return false;
  if (rule.ranks_are == RanksAre::not_power_of_two && power) return false;
  if (rule.nodes_are != NodesAre::any && (rule.nodes_are == NodesAre::one) != call.one_node) return false;
  switch (rule.operator_is) {
    case OperatorIs::any: return true;
    case OperatorIs::commutative: return call.commutative;
    case OperatorIs::not_commutative: return !call.commutative;
    case OperatorIs::predefined: return call.predefined;
    case OperatorIs::user: return !call.predefined;
  }
  return false;
}

}  // namespace

bool blocks_balanced(Rank ranks, Bytes bytes) {
  int delta = 0;
  for (int last = patterns::floor_log2(ranks), e = last - 1; e >= 0; --e) {
    if ((ranks >> e & 1) == 0) continue;
    delta = std::max(delta, last - e);
    last = e;
  }
  return bytes > 0 && delta < std::log2(static_cast<double>(bytes)) / 2 - 2.5;
}

Choice choose(const Rules& rules, const Call& call) {
  std::string passed_over;
  for (const Rule& rule : rules.rules) {
    if (!holds(rule, call)) continue;
    const std::string why_not =
        rule.algorithm ? unsuitable(*rule.algorithm, call.function, call.shape, call.commutative, rule.params) : "";
    if (why_not.empty())
      return {rule.algorithm, rule.params, rules.file + ':' + std::to_string(rule.line) + passed_over};
    passed_over +=
        "; not " + std::string(rule.algorithm->name()) + " (line " + std::to_string(rule.line) + "): " + why_not;
  }
  return {nullptr, {}, "no rule of " + rules.file + " fits" + passed_over};
}

}  // namespace stretto

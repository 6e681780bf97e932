// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>

#include "stretto/cost.hpp"

namespace stretto {
namespace {

/// The level that all messages take, if they take one.
bool one_level(const Shape& shape, const Machine& machine, const Placement& placement) {
  return placement.ranks_per_node == 1 || placement.ranks_per_node >= shape.ranks || machine.node == machine.network;
}

const Link& level_of(const Shape& shape, const Machine& machine, const Placement& placement) {
  return placement.ranks_per_node >= shape.ranks ? machine.node : machine.network;
}

struct Exception {
  std::string_view id;
  const char* reason;
};

// The one list; tests/unit/simulate_test.cc holds every other algorithm to its formula.
constexpr const char* rounds_and_bytes = "the chain of most rounds is not the one that sends most";
constexpr const char* bytes_and_reductions = "the chain that sends most is not the one that combines most";
constexpr const char* all_three = "the chains of most rounds, most bytes and most reductions are three";
constexpr Exception exceptions[] = {
    {"allgather/recursive_doubling", rounds_and_bytes},
    {"allreduce/binary_blocks", all_three},
    {"bcast/scatter_doubling", rounds_and_bytes},
    {"exscan/recursive_doubling", bytes_and_reductions},
    {"reduce/binary_blocks", all_three},
    {"scan/binary_tree", bytes_and_reductions},
    {"scan/recursive_doubling", bytes_and_reductions},
};

}  // namespace

const char* chains_differ(const Algorithm& algorithm) {
  const auto found = std::ranges::find(exceptions, algorithm.id, &Exception::id);
  return found == std::end(exceptions) ? nullptr : found->reason;
}

Shape placed(const Algorithm& algorithm, Shape shape, const Params& params, const Placement& placement) {
  check_placement(placement);
  if (algorithm.list != "nodes" || !shape.nodes.empty() || !params.list.empty()) return shape;
  for (Rank r = 0; r < shape.ranks; ++r) shape.nodes.push_back(placement.node(r));
  return shape;
}

Prediction formula(const Algorithm& algorithm, const Shape& given_shape, const Params& given, const Load& load,
                   const Machine& machine, const Placement& placement) {
  const Shape shape = placed(algorithm, given_shape, given, placement);
  const Params params = resolved(algorithm, shape, given);
  const Link& link = level_of(shape, machine, placement);
  const double blocks = static_cast<double>(std::max<Block>(algorithm.blocks(shape, params), 1));
  const double bytes = static_cast<double>(load.bytes);
  Prediction p;
  p.latency = static_cast<double>(algorithm.rounds(shape, params)) * link.latency();
  p.bandwidth = static_cast<double>(algorithm.sent(shape, params)) * bytes / blocks * link.beta;
  p.reduction =
      static_cast<double>(algorithm.combined(shape, params)) * bytes / blocks * machine.gamma_of(load.operation);
  p.seconds = p.latency + p.bandwidth + p.reduction;
  return p;
}

std::string formula_misses(const Algorithm& algorithm, const Shape& shape, const Load& load, const Machine& machine,
                           const Placement& placement, const Params& params) {
  if (const char* reason = chains_differ(algorithm)) return reason;
  if (algorithm.file) return "the chains of an algorithm from a file may differ";
  if (algorithm.at_most) {
    const Shape at = placed(algorithm, shape, params, placement);
    if (algorithm.at_most(at, resolved(algorithm, at, params))) return "nodes are uneven: the record has bounds";
  }
  if (load.segment > 0 && load.segment < load.bytes) return "segments overlap";
  if (!shape.counts.empty()) return "the ranks' parts differ in size";
  if (!one_level(shape, machine, placement)) return "messages take two levels";
  const Link& link = level_of(shape, machine, placement);
  if (!link.message.empty()) return "messages do not take α + nβ";
  if (link.f_alpha != 1 || link.f_beta != 1) return "one way costs less than both ways";
  if (link.send_overhead > 0 || link.receive_overhead > 0) return "every message has an overhead";
  if (!link.contention.empty() && placement.ranks_per_node > 1) return "ranks of a node contend";
  if (machine.in_turn) return "messages of a round arrive in turn";
  if (machine.copy > 0) return "copies take time";
  if (oversubscribed(machine, placement.ranks_per_node)) return "ranks share cores";
  return {};
}

}  // namespace stretto

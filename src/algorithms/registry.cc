// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>

#include "algorithms/list.hpp"
#include "algorithms/patterns/nodes.hpp"
#include "algorithms/patterns/powers.hpp"

namespace stretto {
namespace {

constexpr const Algorithm* table[] = {
#define ALGORITHM(collective, name) &algorithms::collective##_##name::record,
#include "algorithms/algorithms.def"
#undef ALGORITHM
};

constexpr std::size_t most_with_files = most_algorithms - std::size(table);

/// Filled from the front, by one thread at a time or another; read by all.
std::array<std::atomic<const Algorithm*>, most_with_files>& with_files() {
  static std::array<std::atomic<const Algorithm*>, most_with_files> numbered{};
  return numbered;
}

}  // namespace

std::span<const Algorithm* const> all_algorithms() { return table; }

void number_algorithm(const Algorithm& algorithm) {
  for (auto& place : with_files()) {
    const Algorithm* free = nullptr;
    if (place.compare_exchange_strong(free, &algorithm) || free == &algorithm) return;
  }
}

std::size_t number_of(const Algorithm& algorithm) {
  if (!algorithm.file) return static_cast<std::size_t>(std::ranges::find(table, &algorithm) - std::begin(table));
  std::size_t i = 0;
  while (i + 1 < most_with_files && with_files()[i].load() != &algorithm) ++i;
  return std::size(table) + i;
}

const Algorithm* algorithm_numbered(std::size_t number) {
  if (number < std::size(table)) return table[number];
  number -= std::size(table);
  return number < most_with_files ? with_files()[number].load() : nullptr;
}

const Algorithm* find_algorithm(std::string_view id) {
  const auto* at = std::ranges::lower_bound(table, id, {}, &Algorithm::id);
  return at != std::end(table) && (*at)->id == id ? *at : nullptr;
}

Params resolved(const Algorithm& algorithm, const Shape& shape, Params params) {
  params.file = algorithm.file;
  if (algorithm.list == "nodes") {
    if (params.list.empty()) params.list = shape.nodes.empty() ? patterns::default_nodes(shape.ranks) : shape.nodes;
    if (params.value == 0 && algorithm.parameter.default_value) {
      Shape placed = shape;
      placed.nodes = params.list;  // which the default may go by
      params.value = algorithm.parameter.default_value(placed);
    }
  }
  if (algorithm.list == "dims" && params.list.empty())
    if (const auto graph = graph_of(shape); graph->whole()) params.list = graph->dims();
  // One that goes by the counts of the ranks orders them by these as well.
  if (algorithm.list == "order" && !algorithm.needs.counts && params.list.empty()) {
    if (const std::vector<Rank>& places = shape.cores.empty() ? shape.nodes : shape.cores; !places.empty())
      params.list = patterns::depth_first_order(shape.ranks, places);
  }
  if (params.value == 0 && algorithm.parameter.default_value) params.value = algorithm.parameter.default_value(shape);
  return params;
}

std::string unsuitable(const Algorithm& algorithm, const Shape& shape, const Params& given) {
  const Params params = resolved(algorithm, shape, given);
  const std::string ranks = std::to_string(shape.ranks) + " ranks";
  if (algorithm.needs.ranks == RanksNeeded::even && shape.ranks % 2 != 0) return ranks + " are not an even number";
  if (algorithm.needs.ranks == RanksNeeded::power_of_two && !patterns::is_power_of_two(shape.ranks))
    return ranks + " are not a power of two";
  if (algorithm.parameter.name.empty() && params.value != 0) return "it takes no parameter of its own";
  if (!algorithm.parameter.name.empty() && params.value < algorithm.parameter.least)
    return std::string(algorithm.parameter.name) + " must be at least " + std::to_string(algorithm.parameter.least);
  if (!algorithm.parameter.name.empty() && params.value > algorithm.parameter.most)
    return std::string(algorithm.parameter.name) + " must be at most " + std::to_string(algorithm.parameter.most);
  if (algorithm.list.empty() && !params.list.empty()) return "it takes no list";
  if (facts(algorithm.collective).neighbourhood && params.segment > 0) return "parts for neighbours are not cut";
  if (algorithm.needs.whole_graph && shape.graph && !shape.graph->whole())
    return "not all ranks know the neighbours of all";
  return algorithm.misfit ? algorithm.misfit(shape, params) : std::string();
}

std::string unsuitable(const Algorithm& algorithm, Function function, const Shape& shape, bool commutative,
                       const Params& params) {
  if (facts(function).collective != algorithm.collective) return "it is no " + std::string(facts(function).name);
  if (algorithm.needs.commutative && facts(algorithm.collective).reduces && !commutative)
    return "the operator does not commute";
  if (algorithm.needs.irregular && !facts(function).irregular) return "the parts of all ranks are equally large";
  return unsuitable(algorithm, shape, params);
}

Schedule build_schedule(const Algorithm& algorithm, const Shape& shape, Rank rank, const Params& given) {
  const Params params = resolved(algorithm, shape, given);
  assert(shape.ranks >= 1 && rank >= 0 && rank < shape.ranks && shape.root >= 0 && shape.root < shape.ranks);
  assert(unsuitable(algorithm, shape, params).empty());
  assert(!algorithm.needs.counts || shape.counts.size() == static_cast<std::size_t>(shape.ranks));
  if (algorithm.stored) return algorithm.stored(shape, rank, params);
  Builder builder(rank, shape.ranks, algorithm.blocks(shape, params));
  algorithm.build(builder, shape, params);
  Schedule schedule = builder.finish();
  schedule.algorithm = algorithm.id;
  schedule.root = shape.root;
  if (algorithm.parts) schedule.parts = algorithm.parts(shape, params);
  return schedule;
}

}  // namespace stretto

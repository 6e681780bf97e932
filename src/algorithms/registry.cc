// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>

#include "algorithms/list.hpp"

namespace stretto {
namespace {

constexpr const Algorithm* table[] = {
#define ALGORITHM(collective, name) &algorithms::collective##_##name,
#include "algorithms/algorithms.def"
#undef ALGORITHM
};

}  // namespace

std::span<const Algorithm* const> all_algorithms() { return table; }

const Algorithm* find_algorithm(std::string_view id) {
  for (const Algorithm* a : table)
    if (a->id == id) return a;
  return nullptr;
}

std::string unsuitable(const Algorithm& algorithm, bool commutative) {
  if (algorithm.needs.commutative && !commutative) return "the operator does not commute";
  return {};
}

Schedule build_schedule(const Algorithm& algorithm, const Shape& shape, Rank rank, const Params& params) {
  assert(shape.ranks >= 1 && rank >= 0 && rank < shape.ranks && shape.root >= 0 && shape.root < shape.ranks);
  Builder builder(rank, shape.ranks, algorithm.blocks(shape));
  algorithm.build(builder, shape, params);
  Schedule schedule = builder.finish();
  schedule.algorithm = algorithm.id;
  schedule.root = shape.root;
  return schedule;
}

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
//
// When each message of a schedule is under way.
#include <algorithm>
#include <tuple>

#include "stretto/check.hpp"
#include "stretto/error.hpp"
#include "stretto/topology.hpp"

namespace stretto {
namespace {

constexpr std::size_t most_messages = std::size_t{1} << 21;  // more take gigabytes; a ring of 1024 ranks

}  // namespace

std::vector<Transfer> transfers(std::span<const Schedule> schedules) {
  std::vector<Transfer> found;
  for (const Delivery& m : deliveries(schedules)) found.push_back({m.step, m.from, m.to, Block{m.blocks.count}});
  std::stable_sort(found.begin(), found.end(), [](const Transfer& a, const Transfer& b) {
    return std::tie(a.step, a.from, a.to) < std::tie(b.step, b.from, b.to);
  });
  return found;
}

std::vector<Transfer> transfers(const Algorithm& algorithm, const Shape& shape, const Params& params) {
  std::vector<Schedule> schedules;
  std::size_t sends = 0;
  for (Rank r = 0; r < shape.ranks; ++r) {
    schedules.push_back(build_schedule(algorithm, shape, r, params));
    sends += schedules.back().sends.size();
    if (sends > most_messages)
      throw Error(std::string(algorithm.id) + " on " + std::to_string(shape.ranks) +
                      " ranks sends too many messages to look at",
                  "take fewer ranks");
  }
  return transfers(schedules);
}

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stretto/schedule.hpp"

namespace stretto::checking {

inline std::size_t index(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Which receive takes which message: the k-th from one rank to another goes to the k-th receive there for that rank.
/// Sends are numbered through all ranks, and so are actions.
struct Matching {
  static constexpr std::int64_t none = -1;

  std::vector<std::int64_t> first_send, first_action;  ///< of every rank, and one more for the end
  std::vector<std::int64_t> action_of_send;
  std::vector<std::int64_t> send_of_action;

  std::int64_t send(Rank rank, std::size_t index) const {
    return first_send[checking::index(rank)] + static_cast<std::int64_t>(index);
  }
  std::int64_t action(Rank rank, std::size_t index) const {
    return first_action[checking::index(rank)] + static_cast<std::int64_t>(index);
  }
};

Matching match(std::span<const Schedule> schedules);

}  // namespace stretto::checking

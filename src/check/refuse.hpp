// SPDX-License-Identifier: BSD-3-Clause
//
// How a refusal is put into words. Inside of the checker it travels as an exception; check() catches it.
#pragma once

#include <string>
#include <vector>

#include "stretto/check.hpp"
#include "support/text.hpp"

namespace stretto::checking {

[[noreturn]] inline void refuse(Refusal why, const std::string& message) { throw Refused{why, message}; }

/// "rank 1, round 2: "; rounds are counted from 1 for people.
inline std::string where(Rank rank, std::size_t round) {
  return "rank " + std::to_string(rank) + ", round " + std::to_string(round + 1) + ": ";
}

/// "rank 3" or "ranks 0-3,7"
inline std::string ranks(const std::vector<Rank>& numbers) {
  return (numbers.size() == 1 ? "rank " : "ranks ") + runs_of(numbers);
}

/// "block 3", "blocks 2-3,0-1" or "no blocks"
inline std::string blocks(const std::vector<Block>& numbers) {
  if (numbers.empty()) return "no blocks";
  return (numbers.size() == 1 ? "block " : "blocks ") + runs_of(numbers);
}

/// "1 round", "3 rounds"
inline std::string counted(std::int64_t n, const std::string& noun) {
  return std::to_string(n) + ' ' + noun + (n == 1 ? "" : "s");
}

}  // namespace stretto::checking

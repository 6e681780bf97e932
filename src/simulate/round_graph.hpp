// SPDX-License-Identifier: BSD-3-Clause
//
// The schedules of all ranks without what time does not depend on: blocks become numbers of blocks, a message the
// round of its sender, and rounds that look alike are described once. No schedule is kept.
#pragma once

#include <vector>

#include "simulate/symmetry.hpp"

namespace stretto::simulation {

/// Messages of one size, one after the other.
struct Lot {
  Level level;
  double blocks;  ///< of each
  std::uint32_t messages;
  bool operator==(const Lot&) const = default;
};

/// All that the length of a round depends on.
struct Form {
  std::vector<Lot> sends;
  std::vector<Lot> receives;
  double combined = 0;  ///< blocks
  double copied = 0;    ///< blocks
  bool operator==(const Form&) const = default;
};

struct RoundGraph {
  struct Round {
    std::uint32_t form;
    std::uint32_t end_of_receives;  ///< they begin where those of the round before end
  };
  struct Receive {
    std::uint32_t from;   ///< the simulated rank
    std::uint32_t round;  ///< of that rank
    std::uint32_t place;  ///< among the messages of that round
  };

  Symmetry symmetry;
  Placement placement;
  double blocks = 1;                       ///< that the vector is cut into
  std::vector<std::uint32_t> first_round;  ///< of each simulated rank, and the end
  std::vector<Round> rounds;
  std::vector<Receive> receives;
  std::vector<Form> forms;

  std::size_t ranks() const { return first_round.size() - 1; }
  std::uint32_t rounds_of(std::size_t rank) const { return first_round[rank + 1] - first_round[rank]; }
  std::uint32_t first_receive(std::uint32_t round) const { return round == 0 ? 0 : rounds[round - 1].end_of_receives; }
};

/// Throws stretto::Error if that is too much for this machine.
RoundGraph make_round_graph(const Algorithm& algorithm, const Shape& shape, const Params& params,
                            const Placement& placement, bool all_ranks, double most_seconds);

}  // namespace stretto::simulation

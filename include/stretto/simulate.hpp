// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the schedules of all ranks under a machine's model, round by round.
//
// A rank's round waits for its messages; it then takes α, the time of its port and that of its reductions and copies.
// A rank has one port in each direction and one core. On a machine with α, β and γ only this is what the checker
// counts.
#pragma once

#include <memory>
#include <optional>

#include "stretto/cost.hpp"

namespace stretto {

namespace simulation {
struct RoundGraph;
}

enum class Activity : std::uint8_t { send, receive, reduce, copy, wait };

std::string_view name_of(Activity activity);

/// Something that one rank does for a while.
struct TraceEvent {
  Activity activity;
  Rank rank;
  Rank peer;  ///< no_rank if there is none
  double start;
  double seconds;
  double bytes;
  std::int64_t round;
  Count segment;
};

/// The schedules of an algorithm, reduced to what time depends on. Made once, it serves any load and machine.
class Simulator {
 public:
  /// Algorithms that go by nodes get those of the placement (placed() in cost.hpp).
  /// Where ranks do the same but for a rotation of their numbers, only some of them are simulated, unless
  /// `all_ranks`. Throws stretto::Error where there would be too much to do: schedules that take more than
  /// `most_seconds` to build, or more memory than a machine has. The algorithm must be suitable. Where not all ranks
  /// know the sizes of the parts of a `function`, what finds them is part of run(), not of trace().
  Simulator(const Algorithm& algorithm, const Shape& shape, const Params& params = {}, const Placement& placement = {},
            bool all_ranks = false, std::optional<Function> function = {}, double most_seconds = longest_building);

  static constexpr double longest_building = 120;

  Prediction run(const Load& load, const Machine& machine) const;
  /// What every rank does, in the order of ranks and time.
  std::vector<TraceEvent> trace(const Load& load, const Machine& machine) const;

  Rank simulated_ranks() const;
  std::int64_t rounds() const;  ///< of all simulated ranks

 private:
  void find_sizes();

  const Algorithm* algorithm_;
  Shape shape_;
  Params params_;
  Placement placement_;
  std::shared_ptr<const simulation::RoundGraph> graph_;
  std::shared_ptr<const Simulator> sizes_;  ///< what comes first; null: nothing
  Bytes size_bytes_ = 0;
};

/// The time of a call: by the formula where it holds, else by simulation. Segment and depth are those of `params`.
Prediction predict(const Algorithm& algorithm, const Shape& shape, const Params& params, Bytes bytes,
                   const Machine& machine, const Placement& placement = {}, const Operation& operation = {});

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks that do the same: rank r what rank r mod `period` does, with all peers moved on by as much; and the time that
// building the schedules of all others may take.
#pragma once

#include <ctime>

#include "stretto/algorithm.hpp"
#include "stretto/machine.hpp"

namespace stretto::simulation {

/// How long schedules may take to build: of many ranks that is most of the work of a simulation.
class Budget {
 public:
  explicit Budget(double seconds) : seconds_(seconds), begin_(worked()) {}

  /// Seconds that this thread had a core: others may have it meanwhile.
  static double worked() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  double seconds() const { return seconds_; }
  double left() const { return seconds_ - (worked() - begin_); }

 private:
  double seconds_;
  double begin_;
};

struct Symmetry {
  enum class Kind : std::uint8_t { none, rotation, exclusive_or } kind = Kind::none;
  Rank ranks = 1;
  Rank period = 1;  ///< ranks 0 … period-1 stand for all

  /// How far `peer` is from `rank`; peers of ranks that do the same are equally far.
  Rank distance(Rank rank, Rank peer) const {
    if (kind == Kind::none) return peer;
    if (kind == Kind::exclusive_or) return rank ^ peer;
    return peer >= rank ? peer - rank : peer - rank + ranks;
  }
  /// Who stands for `rank`.
  Rank stand_in(Rank rank) const { return kind == Kind::none ? rank : rank % period; }
};

/// Looks at a dozen ranks, not at all: tests hold the answers to the simulation of all ranks. For equally large blocks.
/// Throws stretto::Error where that takes longer than the budget.
Symmetry find_symmetry(const Algorithm& algorithm, const Shape& shape, const Params& params, const Placement& placement,
                       const Budget& budget);

/// Throws stretto::Error: `why` there would be too much to do.
[[noreturn]] void too_large(const Algorithm& algorithm, const Shape& shape, const std::string& why);

}  // namespace stretto::simulation

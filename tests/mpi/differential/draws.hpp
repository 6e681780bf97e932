// SPDX-License-Identifier: BSD-3-Clause
//
// Which calls are made, with which library, and which of them together.
#pragma once

#include "library.hpp"

namespace stretto::differential {

struct Drawn {
  std::int64_t end = 0;     ///< the number of the next batch's first call
  std::vector<Plan> plans;  ///< in which this process takes part
};

class Draws {
 public:
  Draws(const Options& options, const std::vector<Library>& libraries, const Planner& planner)
      : options_(options),
        libraries_(libraries),
        planner_(planner) {}

  const Library& library(std::int64_t number) const;
  /// The batch that begins with this call. Collective over the world: a communicator may be exchanged before it.
  Drawn batch(std::int64_t first, Communicators& communicators) const;
  /// For the batch that begins with this call: the same on all processes, and not the draws of its plans.
  Random common(std::int64_t number) const;

 private:
  std::int64_t in_a_row() const;
  bool draw_kind(Plan& plan, bool alone) const;

  const Options& options_;
  const std::vector<Library>& libraries_;
  const Planner& planner_;
};

}  // namespace stretto::differential

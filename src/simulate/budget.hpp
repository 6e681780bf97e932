// SPDX-License-Identifier: BSD-3-Clause
//
// How long schedules may take to build: of many ranks that is most of the work of a simulation.
#pragma once

#include <ctime>

namespace stretto::simulation {

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

}  // namespace stretto::simulation

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>

namespace stretto {

/// A moment after which waiting is a fault; by default there is none.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  Deadline() = default;
  static Deadline in(std::chrono::duration<double> span) {
    Deadline d;
    d.at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
    return d;
  }

  bool set() const { return at_.has_value(); }
  bool expired() const { return at_ && Clock::now() >= *at_; }
  std::optional<Clock::time_point> at() const { return at_; }

 private:
  std::optional<Clock::time_point> at_;
};

}  // namespace stretto

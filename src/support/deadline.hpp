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
    d.span_ = std::chrono::duration_cast<Clock::duration>(span);
    d.at_ = Clock::now() + d.span_;
    return d;
  }

  static Deadline after(const std::optional<double>& seconds) {
    return seconds ? in(std::chrono::duration<double>(*seconds)) : Deadline();
  }

  /// The same span from now on.
  Deadline renewed() const { return at_ ? in(span_) : Deadline(); }
  /// This moment, or one that comes after `span` if that is sooner.
  Deadline within(Clock::duration span) const {
    Deadline d = *this;
    const auto then = Clock::now() + span;
    if (!at_ || then < *at_) d.at_ = then;
    return d;
  }
  bool expired() const { return at_ && Clock::now() >= *at_; }
  std::optional<Clock::time_point> at() const { return at_; }

 private:
  Clock::duration span_{};
  std::optional<Clock::time_point> at_;
};

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
//
// What the ranks of a node share: the more use it at once, the slower it is for each, all alike.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace stretto::simulation {

/// Jobs are measured in a time of their own, which passes slowdown(jobs) times slower than the clock. In it each job
/// ends when it was always to end, whoever comes and goes.
class Shared {
 public:
  explicit Shared(std::function<double(double)> slowdown) : slowdown_(std::move(slowdown)) {}

  void join(double now, std::uint32_t job, double work) {
    advance(now);
    jobs_.emplace(own_time_ + work, job);
    ++version_;
  }
  bool busy() const { return !jobs_.empty(); }
  /// When the next job ends if no other comes.
  double next_end() const { return last_ + (jobs_.top().first - own_time_) * slowdown(); }
  /// Ends that job.
  std::uint32_t leave(double now) {
    own_time_ = jobs_.top().first;
    last_ = now;
    const std::uint32_t job = jobs_.top().second;
    jobs_.pop();
    ++version_;
    return job;
  }
  /// Changes with whatever changes next_end().
  std::uint32_t version() const { return version_; }

 private:
  using Job = std::pair<double, std::uint32_t>;

  double slowdown() const { return slowdown_(static_cast<double>(jobs_.size())); }
  void advance(double now) {
    if (busy()) own_time_ += (now - last_) / slowdown();
    last_ = now;
  }

  std::function<double(double)> slowdown_;
  double own_time_ = 0, last_ = 0;
  std::priority_queue<Job, std::vector<Job>, std::greater<>> jobs_;
  std::uint32_t version_ = 0;
};

}  // namespace stretto::simulation

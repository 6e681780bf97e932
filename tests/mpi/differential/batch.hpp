// SPDX-License-Identifier: BSD-3-Clause
//
// Calls that are under way together. All ranks start them in one order, blocking ones among them, but persistent
// requests, which MPI lets each rank start in an order of its own. Each rank completes them as it likes.
#pragma once

#include <deque>
#include <vector>

#include "comparison.hpp"
#include "messages.hpp"

namespace stretto::differential {

class Batch {
 public:
  /// Of the calls in which this process takes part; the draws from `common` are the same on all processes. Collective
  /// over the world.
  Batch(std::vector<Plan> plans, Run& run, const Library& stretto, const Member& world, Random common);
  ~Batch() { set_operands({}); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void make();

 private:
  void start_all(int round);
  void start(Comparison& call);
  void start_together(std::vector<Comparison*> calls);
  void complete(int round);
  bool completed(Comparison& call);
  void send_messages(const Member& world, Random& common);
  void release(Comparison& call);

  const Library& stretto_;
  std::deque<Comparison> calls_;
  std::deque<Message> messages_;
  Random own_;
};

}  // namespace stretto::differential

// SPDX-License-Identifier: BSD-3-Clause
//
// What both ways of running a graph share: who waits for whom, and when each round of each segment began.
#pragma once

#include <vector>

#include "simulate/round_graph.hpp"
#include "stretto/cost.hpp"

namespace stretto::simulation {

/// What a round of a form takes on a machine, with blocks of a given size.
struct Price {
  double latency = 0;   ///< α: keeps neither port nor core
  double port = 0;      ///< of both directions, and the overheads of messages
  double out_port = 0;  ///< of the messages that are sent
  double overhead = 0;  ///< of that, what the bytes do not take
  double network = 0;   ///< share of `port` that the node's network is used
  bool out = false, in = false;
  double reduction = 0;
  double copy = 0;
  double wait = 0;  ///< for a core, before the messages are seen

  double core() const { return reduction + copy; }
  double all() const { return latency + port + core() + wait; }
};

/// When the parts of a round began and ended; the round itself begins and ends in Run::begins.
struct Times {
  double ready = 0;  ///< all messages under way
  double port = 0, end_of_port = 0;
  double core = 0, end_of_core = 0;
};

class Run {
 public:
  Run(const RoundGraph& graph, const Machine& machine, const Load& load);

  /// Has each rank one segment in flight, and nothing to share?
  bool simple() const { return depth_ == 1 && !shares_; }
  /// Each rank's rounds one after the other, in any order of the ranks.
  void run_simply();
  /// All ranks in the order of time.
  void run_in_time(std::vector<Times>* times = nullptr);

  /// Of the rank that ends last: back along what it waited for.
  Prediction prediction() const;

  Count segments() const { return segments_; }
  std::size_t slot(Count segment, std::size_t rank, std::uint32_t round) const {
    return static_cast<std::size_t>(segment) * per_segment_ + graph_.first_round[rank] + rank + round;
  }
  double begin(std::size_t slot) const { return begins_[slot]; }  ///< of the round; of the end behind the last one
  /// The receive that the round waited for longest, or `no_cause`.
  std::uint32_t cause(std::size_t slot) const { return causes_[slot]; }
  double block_bytes(Count segment) const { return bytes_[last(segment)] / graph_.blocks; }
  const Price& price(Count segment, std::size_t rank, std::uint32_t round) const {
    return prices_[last(segment)][graph_.rounds[graph_.first_round[rank] + round].form];
  }

  static constexpr std::uint32_t no_cause = ~std::uint32_t{0};

 private:
  class Clockwork;  // of run_in_time

  /// A segment in flight on a rank.
  struct Instance {
    std::uint32_t rank = 0;
    std::uint32_t round = 0;
    Count segment = 0;
    std::uint32_t receive = 0;  ///< the next one of the round
    double ready = 0;
    std::size_t awaits = 0;               ///< a slot, while it waits
    std::uint32_t next_waiting = nobody;  ///< for the same rank
  };
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  int last(Count segment) const { return segment + 1 == segments_ ? 1 : 0; }
  /// Notes that the instance's round begins. False: it was the last of its last segment.
  bool enter_round(Instance& in, double now);
  /// After which time a message may be received, if those of its round leave in turn.
  double head_start(const RoundGraph::Receive& receive, Count segment) const;
  /// When the messages of a round that has begun could leave.
  double sent(std::size_t slot) const { return begins_[slot] + (delays_.empty() ? 0 : delays_[slot]); }
  /// False: a message is not under way yet, and the instance was put on its sender's list.
  bool receive_all(std::uint32_t id);
  /// Calls use(instance) for those that can go on, now that the rank has entered a round.
  template <typename Use>
  void wake(std::uint32_t rank, Use use);
  void check_end() const;

  const RoundGraph& graph_;
  const Machine& machine_;
  Count segments_;
  Count depth_;
  bool shares_;
  double bytes_[2];  // of a segment, and of the last one
  std::vector<Price> prices_[2];
  std::size_t per_segment_;
  std::vector<Instance> instances_;
  std::vector<std::uint32_t> waiting_;  // for each rank, the first instance that waits for it
  std::vector<double> begins_;          // below 0: not yet
  std::vector<std::uint32_t> causes_;
  std::vector<double> delays_;  // of the round's messages, by those of other segments; empty: none
};

template <typename Use>
void Run::wake(std::uint32_t rank, Use use) {
  std::uint32_t left = nobody;
  for (std::uint32_t id = waiting_[rank]; id != nobody;) {
    Instance& in = instances_[id];
    const std::uint32_t next = in.next_waiting;
    if (begins_[in.awaits] >= 0) {
      use(id);
    } else {
      in.next_waiting = left;
      left = id;
    }
    id = next;
  }
  waiting_[rank] = left;
}

}  // namespace stretto::simulation

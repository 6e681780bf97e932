// SPDX-License-Identifier: BSD-3-Clause
//
// What a machine's messages and reductions cost: the α-β-γ model of Thakur, Rabenseifner and Gropp (2005, section 3),
// for the ranks of one node and for the network, and what measurements add to it. Times are in seconds. All that is
// beyond α, β and γ is absent unless it is given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stretto/types.hpp"

namespace stretto {

/// Which way a message takes.
enum class Level : std::uint8_t { node, network };

/// One corner of a piecewise linear function. Two at the same place are a step: the first holds at the place itself.
struct Point {
  double at;
  double value;
  bool operator==(const Point&) const = default;
};

/// Linear between the points and, by the last two, behind them; constant before the first. 0 without points.
double interpolated(const std::vector<Point>& points, double at);

/// The messages of one level.
struct Link {
  double alpha = 0;                    ///< of a message, while both ranks send to each other
  double beta = 0;                     ///< per byte, likewise
  double f_alpha = 1;                  ///< share of α in a round that only sends or only receives
  double f_beta = 1;                   ///< the same of β
  std::vector<Point> message = {};     ///< seconds by bytes, instead of α and β: with the step of the rendezvous
  double send_overhead = 0;            ///< of the sender for each message, beside α
  double receive_overhead = 0;         ///< of the receiver
  std::vector<Point> contention = {};  ///< by ranks of a node that use the level at once: so many times slower
  bool operator==(const Link&) const = default;

  double latency() const { return message.empty() ? alpha : interpolated(message, 0); }
  /// What a message of so many bytes takes longer than an empty one.
  double transfer(double bytes) const {
    return message.empty() ? beta * bytes : interpolated(message, bytes) - interpolated(message, 0);
  }
  double slowdown(double ranks) const { return contention.empty() ? 1 : interpolated(contention, ranks); }
};

/// What combines, in the words of the reports: "sum" of "f64". Empty: any.
struct Operation {
  std::string name = {};
  std::string type = {};
  bool operator==(const Operation&) const = default;
};

struct Speed {
  Operation operation;
  double gamma;  ///< seconds per byte
  bool operator==(const Speed&) const = default;
};

struct Machine {
  std::string name = {};
  std::string fingerprint = {};  ///< of the machine that was measured; empty: of none
  Link node = {};
  Link network = {};
  double gamma = 0;                ///< seconds per byte that is combined
  std::vector<Speed> speeds = {};  ///< of operations that differ from that
  double copy = 0;                 ///< seconds per byte that is copied within a rank
  int cores = 0;                   ///< of a node; 0: one for every rank
  double wait = 0;       ///< of a rank for a message, where a core has to serve two ranks; twice that where three, …
  bool in_turn = false;  ///< the messages that a rank sends in a round leave one after the other, and arrive so
  bool operator==(const Machine&) const = default;

  const Link& link(Level level) const { return level == Level::node ? node : network; }
  /// Of the operation, else of its name for any type, else of any.
  double gamma_of(const Operation& operation) const;
};

/// Where the ranks are: node n has ranks n·k … n·k + k-1.
struct Placement {
  Rank ranks_per_node = 1;

  Rank node(Rank rank) const { return rank / ranks_per_node; }
  Level level(Rank a, Rank b) const { return node(a) == node(b) ? Level::node : Level::network; }
};

/// Do ranks share a core, with so many on each node?
inline bool oversubscribed(const Machine& machine, Rank ranks_per_node) {
  return machine.cores > 0 && ranks_per_node > machine.cores;
}

/// Throws stretto::Error if a number of the machine makes no sense.
void check_machine(const Machine& machine);
/// Likewise if nodes have no ranks.
void check_placement(const Placement& placement);

}  // namespace stretto

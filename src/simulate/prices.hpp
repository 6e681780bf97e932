// SPDX-License-Identifier: BSD-3-Clause
//
// What a round of each form takes on a machine, with blocks of a given size.
#pragma once

#include <vector>

#include "simulate/round_graph.hpp"
#include "stretto/cost.hpp"

namespace stretto::simulation {

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

/// Of every form of the graph.
std::vector<Price> prices(const RoundGraph& graph, const Machine& machine, double bytes, const Operation& operation);

/// After which time the message at `place` of the round may be received, if messages leave in turn.
double head_start(const Form& form, std::uint32_t place, const Machine& machine, double block_bytes);

}  // namespace stretto::simulation

// SPDX-License-Identifier: BSD-3-Clause
//
// Between nodes by way of ranks that send for others, so that fewer messages go there, and what a rank sends to several
// ranks of a node alike goes there once.
#pragma once

#include "algorithms/patterns/nodes.hpp"
#include "algorithms/patterns/routes.hpp"

namespace stretto::patterns {

/// Each rank sends to one rank of the other node, which hands out.
class TwoStepRoute {
 public:
  TwoStepRoute(const Shape& shape, const Params& params) : nodes_(shape.ranks, params.list, 0) {}
  static constexpr int steps() { return 2; }
  Rank operator()(Rank source, Rank destination, int) const {
    const Rank node = nodes_.group(0, destination);
    if (nodes_.group(0, source) == node) return destination;
    const auto& there = nodes_.units(0, node);
    return there[static_cast<std::size_t>(nodes_.place(0, source)) % there.size()];
  }

 private:
  Nodes nodes_;
};

/// One rank of the node gathers what goes to the other node, and sends it to one rank there, which hands out. These are
/// others for each pair of nodes.
class ThreeStepRoute {
 public:
  ThreeStepRoute(const Shape& shape, const Params& params) : nodes_(shape.ranks, params.list, 0) {}
  static constexpr int steps() { return 3; }
  Rank operator()(Rank source, Rank destination, int step) const {
    const Rank here = nodes_.group(0, source), there = nodes_.group(0, destination);
    if (here == there) return step == 1 ? source : destination;
    return step == 1 ? speaker(here, there) : speaker(there, here);
  }

 private:
  Rank speaker(Rank node, Rank with) const {
    const auto& ranks = nodes_.units(0, node);
    return ranks[static_cast<std::size_t>(with) % ranks.size()];
  }

  Nodes nodes_;
};

}  // namespace stretto::patterns

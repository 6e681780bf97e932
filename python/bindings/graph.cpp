// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/graph.hpp"

#include "register.hpp"
#include "stretto/collective.hpp"

namespace stretto::python {

void register_graph(nb::module_& m) {
  m.def(
      "destinations",
      [](const Shape& shape, Rank rank) {
        if (rank < 0 || rank >= shape.ranks)
          throw Error("there is no rank " + std::to_string(rank), "ranks count from 0");
        return graph_of(shape)->of(rank).destinations;
      },
      nb::arg("shape"), nb::arg("rank"),
      "In a neighbourhood collective, for whom the parts of a rank's input are; -1: for nobody.");
  m.def(
      "messages_to_node",
      [](const Shape& shape, const std::vector<Rank>& nodes) {
        if (nodes.size() != static_cast<std::size_t>(shape.ranks))
          throw Error(
              "there are " + std::to_string(nodes.size()) + " nodes for " + std::to_string(shape.ranks) + " ranks",
              "give each rank's node");
        return messages_to_node(*graph_of(shape), nodes);
      },
      nb::arg("shape"), nb::arg("nodes"),
      "In a neighbourhood collective, how many parts there are for a node from another, on average.");
}

}  // namespace stretto::python

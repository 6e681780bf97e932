// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/topology.hpp"

#include <algorithm>

#include "register.hpp"

namespace stretto::python {

namespace {

void require_place(const Topology& topology, Rank rank) {
  if (rank < 0 || rank >= topology.ranks())
    throw Error("rank " + std::to_string(rank) + " is not on the topology, which has " +
                    std::to_string(topology.ranks()) + " ranks",
                "place more ranks on its machines");
}

/// Kept here: there are millions of them.
struct Messages {
  std::vector<Transfer> all;
  Rank ranks;
};

void register_tree(nb::module_& m) {
  nb::class_<Vertex>(m, "Vertex", "A switch or a machine, with its link to the switch above.")
      .def(nb::init<std::string, int, bool, double, double>(), nb::arg("name"), nb::arg("above") = -1,
           nb::arg("machine") = false, nb::arg("bandwidth") = 0.0, nb::arg("latency") = 0.0)
      .def_ro("name", &Vertex::name)
      .def_ro("above", &Vertex::above, "Which of the vertices; -1: it is on top.")
      .def_ro("machine", &Vertex::machine)
      .def_ro("bandwidth", &Vertex::bandwidth, "Of the link: bytes per second in each direction; 0: unlimited.")
      .def_ro("latency", &Vertex::latency, "Of the link, in seconds.");
  nb::class_<Topology>(m, "Topology",
                       "A tree of switches with ranks on its machines. Raises stretto.Error if it is none.")
      .def(nb::init<std::vector<Vertex>, std::vector<int>, Bytes>(), nb::arg("vertices"), nb::arg("machine_of_rank"),
           nb::arg("rendezvous") = 0)
      .def_prop_ro("vertices", &Topology::vertices)
      .def_prop_ro("below", &Topology::below, "Of each vertex, those of lower ranks first.")
      .def_prop_ro("top", &Topology::top)
      .def_prop_ro("ranks", &Topology::ranks)
      .def_prop_ro("ring", &Topology::ring, "The ranks as a depth-first walk meets them: a ring without contention.")
      .def_prop_ro("rendezvous", &Topology::rendezvous,
                   "Messages of so many bytes and more wait for an answer; 0: not known, or none do.")
      .def(
          "machine_of",
          [](const Topology& t, Rank rank) {
            require_place(t, rank);
            return t.machine_of(rank);
          },
          nb::arg("rank"))
      .def(
          "name_of",
          [](const Topology& t, std::size_t way) {
            if (way >= t.ways()) throw Error("way " + std::to_string(way) + " is not one of the topology's");
            return t.name_of(way);
          },
          nb::arg("way"), "\"s1 to s0\".");
  m.def(
      "two_levels",
      [](const std::vector<int>& nodes, double bandwidth, double latency) {
        return two_levels(nodes, bandwidth, latency);
      },
      nb::arg("nodes"), nb::arg("bandwidth") = 0.0, nb::arg("latency") = 0.0,
      "Nodes on one switch; `nodes` says for every rank on which it is.");
}

void register_messages(nb::module_& m) {
  nb::class_<Transfer>(m, "Transfer", "A message of a schedule, in a step as the checker counts them.")
      .def_ro("step", &Transfer::step)
      .def_ro("from_rank", &Transfer::from)
      .def_ro("to_rank", &Transfer::to)
      .def_ro("blocks", &Transfer::blocks);
  nb::class_<Messages>(m, "Messages", "All messages of an algorithm, sorted by step.")
      .def(
          "__init__",
          [](Messages* self, const Algorithm& algorithm, const Shape& shape, const Params& params) {
            require_suitable(algorithm, shape, params);
            const nb::gil_scoped_release release;
            new (self) Messages{transfers(algorithm, shape, params), shape.ranks};
          },
          nb::arg("algorithm"), nb::arg("shape"), nb::arg("params") = Params{},
          "Raises stretto.Error where there are too many.")
      .def("__len__", [](const Messages& messages) { return messages.all.size(); })
      .def(
          "of_step",
          [](const Messages& messages, std::int64_t step) {
            const auto [first, end] = std::ranges::equal_range(messages.all, step, {}, &Transfer::step);
            return std::vector<Transfer>(first, end);
          },
          nb::arg("step"), "Steps count from 1.");
  nb::class_<StepTraffic>(m, "StepTraffic", "The messages of one step, on the tree.")
      .def_ro("messages", &StepTraffic::messages)
      .def_ro("shared", &StepTraffic::shared, "Ways that several messages use: 0 if it is contention-free.")
      .def_ro("most", &StepTraffic::most, "Messages on one way.")
      .def_ro("where", &StepTraffic::where, "That way.")
      .def_ro("latency", &StepTraffic::latency, "Of the longest path.")
      .def_ro("per_block", &StepTraffic::per_block, "Seconds of the slowest way, for every byte of a block.")
      .def_ro("largest", &StepTraffic::largest, "Blocks of its largest message between machines.");
  nb::class_<Traffic>(m, "Traffic", "What all messages of a schedule do on a tree.")
      .def_ro("steps", &Traffic::steps)
      .def_ro("most", &Traffic::most, "Messages of one step, by way.")
      .def_ro("blocks", &Traffic::blocks, "Of all steps, by way.")
      .def_ro("latency", &Traffic::latency)
      .def_ro("per_block", &Traffic::per_block)
      .def_ro("busiest", &Traffic::busiest, "Seconds of the most used way, for every byte of a block.")
      .def_prop_ro("contention_free", &Traffic::contention_free);
}

void register_times(nb::module_& m) {
  nb::class_<TreeTime>(m, "TreeTime", "The time of a call on a tree, and in how many segments.")
      .def_ro("seconds", &TreeTime::seconds)
      .def_ro("segments", &TreeTime::segments);
  m.def("time_on_tree", &time_on_tree, nb::arg("traffic"), nb::arg("blocks"), nb::arg("bytes"),
        "Step by step, or in segments that follow each other as closely as the busiest way lets them.");
  nb::class_<Bound>(m, "Bound", "What a collective takes at least, and why.")
      .def_ro("seconds", &Bound::seconds)
      .def_ro("reason", &Bound::reason);
  m.def(
      "lower_bound",
      [](const Topology& topology, Collective collective, Rank root, Bytes bytes) {
        require_place(topology, root);
        return lower_bound(topology, collective, root, bytes);
      },
      nb::arg("topology"), nb::arg("collective"), nb::arg("root"), nb::arg("bytes"),
      nb::call_guard<nb::gil_scoped_release>(), "What a collective of so many bytes takes at least on the tree.");
}

}  // namespace

void register_topology(nb::module_& m) {
  register_tree(m);
  register_messages(m);
  register_times(m);
  m.def(
      "traffic",
      [](const Topology& topology, const Messages& messages) {
        require_place(topology, messages.ranks - 1);
        return traffic(topology, messages.all);
      },
      nb::arg("topology"), nb::arg("messages"), nb::call_guard<nb::gil_scoped_release>(),
      "Which messages of a step share links.");
  m.def(
      "sharing",
      [](const Topology& topology, const Messages& messages, std::int64_t step, std::size_t way) {
        require_place(topology, messages.ranks - 1);
        const auto [first, end] = std::ranges::equal_range(messages.all, step, {}, &Transfer::step);
        return sharing(topology, {first, end}, step, way);
      },
      nb::arg("topology"), nb::arg("messages"), nb::arg("step"), nb::arg("way"),
      "The messages of a step that use a way.");
}

}  // namespace stretto::python

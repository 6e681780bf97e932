// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/machine.hpp"

#include "reduce/kernels.hpp"
#include "register.hpp"

namespace stretto::python {

namespace {

using Pairs = std::vector<std::pair<double, double>>;

std::vector<Point> points_of(const Pairs& pairs) {
  std::vector<Point> points;
  for (const auto& [at, value] : pairs) points.push_back({at, value});
  return points;
}

Pairs pairs_of(const std::vector<Point>& points) {
  Pairs pairs;
  for (const Point& p : points) pairs.emplace_back(p.at, p.value);
  return pairs;
}

void register_link(nb::module_& m) {
  nb::class_<Link>(m, "Link", "What the messages of one level cost: α-β, or seconds by bytes. Times in seconds.")
      .def(
          "__init__",
          [](Link* self, double alpha, double beta, double f_alpha, double f_beta, const Pairs& message,
             double send_overhead, double receive_overhead, const Pairs& contention) {
            new (self) Link{alpha,
                            beta,
                            f_alpha,
                            f_beta,
                            points_of(message),
                            send_overhead,
                            receive_overhead,
                            points_of(contention)};
          },
          nb::kw_only(), nb::arg("alpha") = 0.0, nb::arg("beta") = 0.0, nb::arg("f_alpha") = 1.0,
          nb::arg("f_beta") = 1.0, nb::arg("message") = Pairs(), nb::arg("send_overhead") = 0.0,
          nb::arg("receive_overhead") = 0.0, nb::arg("contention") = Pairs())
      .def_ro("alpha", &Link::alpha, "Of a message, while both ranks send to each other.")
      .def_ro("beta", &Link::beta, "Per byte, likewise.")
      .def_ro("f_alpha", &Link::f_alpha, "Share of α in a round that only sends or only receives.")
      .def_ro("f_beta", &Link::f_beta, "The same of β.")
      .def_prop_ro(
          "message", [](const Link& l) { return pairs_of(l.message); }, "Seconds by bytes, instead of α and β.")
      .def_ro("send_overhead", &Link::send_overhead, "Of the sender for each message, beside α.")
      .def_ro("receive_overhead", &Link::receive_overhead)
      .def_prop_ro(
          "contention", [](const Link& l) { return pairs_of(l.contention); },
          "By ranks of a node that use the level at once: so many times slower.")
      .def("latency", &Link::latency, "Of an empty message.")
      .def("transfer", &Link::transfer, nb::arg("bytes"), "What a message takes longer than an empty one.")
      .def("__eq__", [](const Link& a, const Link& b) { return a == b; }, nb::is_operator());
}

void register_operation(nb::module_& m) {
  nb::class_<Operation>(m, "Operation", "What combines: \"sum\" of \"f64\". Empty: any.")
      .def(nb::init<std::string, std::string>(), nb::arg("name") = "", nb::arg("type") = "")
      .def_ro("name", &Operation::name)
      .def_ro("type", &Operation::type);
  nb::class_<Speed>(m, "Speed", "Seconds per byte of an operation.")
      .def(nb::init<const Operation&, double>(), nb::arg("operation"), nb::arg("gamma"))
      .def_ro("operation", &Speed::operation)
      .def_ro("gamma", &Speed::gamma);
  nb::class_<Placement>(m, "Placement", "Where the ranks are: node n has ranks n·k … n·k + k-1.")
      .def(nb::init<Rank>(), nb::arg("ranks_per_node") = 1)
      .def_ro("ranks_per_node", &Placement::ranks_per_node);
  m.def(
      "predefined_operations",
      [] {
        std::vector<std::pair<std::string_view, std::string_view>> found;
        for (int op = 0; op < reduce::op_count; ++op)
          for (int type = 0; type < reduce::type_count; ++type)
            if (reduce::kernel(static_cast<reduce::Op>(op), static_cast<reduce::Type>(type)))
              found.emplace_back(reduce::name_of(static_cast<reduce::Op>(op)),
                                 reduce::name_of(static_cast<reduce::Type>(type)));
        return found;
      },
      "(operator, type) of all pairs that MPI defines: (\"sum\", \"f64\").");
}

}  // namespace

void register_machine(nb::module_& m) {
  register_link(m);
  register_operation(m);
  nb::class_<Machine>(m, "Machine", "What messages and reductions cost. Raises stretto.Error if that makes no sense.")
      .def(
          "__init__",
          [](Machine* self, std::string name, std::string fingerprint, const Link& node, const Link& network,
             double gamma, std::vector<Speed> speeds, double copy, int cores, double wait, bool in_turn) {
            Machine machine{
                std::move(name), std::move(fingerprint), node, network, gamma, std::move(speeds), copy, cores, wait,
                in_turn};
            check_machine(machine);
            new (self) Machine(std::move(machine));
          },
          nb::kw_only(), nb::arg("name") = "", nb::arg("fingerprint") = "", nb::arg("node") = Link{},
          nb::arg("network") = Link{}, nb::arg("gamma") = 0.0, nb::arg("speeds") = std::vector<Speed>(),
          nb::arg("copy") = 0.0, nb::arg("cores") = 0, nb::arg("wait") = 0.0, nb::arg("in_turn") = false)
      .def_ro("name", &Machine::name)
      .def_ro("fingerprint", &Machine::fingerprint, "Of the machine that was measured; empty: of none.")
      .def_ro("node", &Machine::node)
      .def_ro("network", &Machine::network)
      .def_ro("gamma", &Machine::gamma, "Seconds per byte that is combined.")
      .def_ro("speeds", &Machine::speeds, "Of operations that differ from that.")
      .def_ro("copy", &Machine::copy, "Seconds per byte that is copied within a rank.")
      .def_ro("cores", &Machine::cores, "Of a node; 0: one for every rank.")
      .def_ro("wait", &Machine::wait, "Of a rank for a message, where a core has to serve two ranks.")
      .def_ro("in_turn", &Machine::in_turn, "Messages of a round leave one after the other.")
      .def("gamma_of", &Machine::gamma_of, nb::arg("operation"));
}

}  // namespace stretto::python

// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/rules.hpp"

#include "register.hpp"

namespace stretto::python {

namespace {

void register_values(nb::module_& m) {
  nb::class_<Call>(m, "Call", "What a choice may depend on: values that are equal on all ranks.")
      .def(nb::init<Function, const Shape&, Bytes, bool, bool, Rank, bool, bool, std::int64_t>(), nb::arg("function"),
           nb::arg("shape"), nb::arg("bytes"), nb::arg("commutative") = true, nb::arg("predefined") = true,
           nb::arg("per_node") = 1, nb::arg("even_nodes") = true, nb::arg("oversubscribed") = false,
           nb::arg("to_node") = 0)
      .def_ro("function", &Call::function)
      .def_ro("shape", &Call::shape)
      .def_ro("bytes", &Call::bytes, "The whole vector: all parts together; a size hint, where not all ranks know it.")
      .def_ro("commutative", &Call::commutative)
      .def_ro("predefined", &Call::predefined)
      .def_ro("per_node", &Call::per_node, "The most ranks that share a node's memory.")
      .def_ro("even_nodes", &Call::even_nodes, "Has each node as many?")
      .def_ro("oversubscribed", &Call::oversubscribed, "Has a node of these ranks more of the job's ranks than cores?")
      .def_prop_ro("one_node", &Call::one_node, "Do all ranks share memory?");
  nb::class_<Choice>(m, "Choice", "What was chosen for a call, and why.")
      .def_prop_ro(
          "algorithm", [](const Choice& c) { return c.algorithm; }, nb::rv_policy::reference,
          nb::sig("def algorithm(self) -> Algorithm | None"), "None: the native library.")
      .def_ro("params", &Choice::params)
      .def_ro("reason", &Choice::reason)
      .def_ro("line", &Choice::line, "Of the rule that decided; 0: an override did, or no rule fits.");
  nb::class_<AlgorithmSpec>(m, "AlgorithmSpec",
                            "An algorithm specification: an algorithm with its parameters, as in \"ring,segment=64K\".")
      .def_prop_ro(
          "algorithm", [](const AlgorithmSpec& s) { return s.algorithm; }, nb::rv_policy::reference,
          nb::sig("def algorithm(self) -> Algorithm | None"), "None: the native library.")
      .def_ro("params", &AlgorithmSpec::params);
  nb::class_<Override>(m, "Override", "A choice that stands above the rules, where its algorithm can serve the call.")
      .def(nb::init<const AlgorithmSpec&, std::string>(), nb::arg("spec"), nb::arg("text"))
      .def_ro("spec", &Override::spec)
      .def_ro("text", &Override::text, "For people: \"STRETTO_ALLREDUCE=ring\".");
}

void register_rule(nb::module_& m) {
  nb::class_<Between>(m, "Between", "A closed range of numbers.")
      .def_ro("low", &Between::low)
      .def_ro("high", &Between::high);
  nb::class_<Rule>(m, "Rule", "One line of a rules file.")
      .def_ro("function", &Rule::function)
      .def_ro("bytes", &Rule::bytes)
      .def_ro("part", &Rule::part, "Bytes of each rank's part, on average.")
      .def_ro("ranks", &Rule::ranks)
      .def_ro("per_node", &Rule::per_node, "Ranks of the fullest node.")
      .def_ro("to_node", &Rule::to_node, "Of a neighbourhood: messages from a node to another, on average.")
      .def("demands", &Rule::demands, nb::arg("condition"), "\"nodes=1\": a condition without a number.")
      .def_prop_ro(
          "algorithm", [](const Rule& r) { return r.algorithm; }, nb::rv_policy::reference,
          nb::sig("def algorithm(self) -> Algorithm | None"), "None: the native library.")
      .def_ro("params", &Rule::params)
      .def_ro("line", &Rule::line);
  nb::class_<Rules>(m, "Rules", "The rules of one file, in their order.")
      .def_ro("file", &Rules::file)
      .def_ro("machine", &Rules::machine, "The only one that they are for; empty: any.")
      .def_ro("otherwise", &Rules::otherwise, "Where none fits, those decide that would without this file.")
      .def("place", &Rules::place, nb::arg("line"), "FILE:LINE, of a rule's line: several files may be joined.")
      .def_ro("rules", &Rules::rules);
}

}  // namespace

void register_rules(nb::module_& m) {
  register_values(m);
  register_rule(m);
  m.def("parse_rules", &parse_rules, nb::arg("text"), nb::arg("file") = "<text>",
        "Raises stretto.Error that names `file` and the line.");
  m.def("read_rules", &read_rules, nb::arg("path"));
  m.def("shipped_rules", &shipped_rules, nb::rv_policy::reference, "The rules that are part of the library.");
  m.def("parse_size", &parse_size, nb::arg("text"), "\"64K\", \"2M\", \"100\" to bytes; None if it is no size.");
  m.def(
      "choose",
      [](const Rules& rules, const Call& call, const std::vector<const Override*>& overrides) {
        return choose(overrides, rules, call);
      },
      nb::arg("rules"), nb::arg("call"), nb::arg("overrides") = std::vector<const Override*>(),
      "The algorithm of the first override that can be granted, else of the first rule that fits.");
  m.def("chosen_alike", &chosen_alike, nb::arg("rules"), nb::arg("call"),
        "The numbers of bytes for which the rules choose as for this call.");
  m.def("written", &written, nb::arg("algorithm").none(), nb::arg("params"),
        "\"ring segment=64K depth=4\": an algorithm and parameters as they stand in a rule.");
  m.def(
      "parse_algorithm_spec",
      [](Function function, std::string_view value) {
        AlgorithmSpec spec = parse_algorithm_spec(function, value);
        if (!spec.file.empty()) spec.algorithm = &algorithm_of_file(spec.file);
        return spec;
      },
      nb::arg("function"), nb::arg("value"),
      "Read \"ring,segment=64K,depth=4\", \"kring,group=2\", \"native\" or \"file:PATH\"; raises stretto.Error.");
}

}  // namespace stretto::python

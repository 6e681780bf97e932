// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/simulate.hpp"

#include "register.hpp"

namespace stretto::python {

void register_simulate(nb::module_& m) {
  nb::class_<TraceEvent>(m, "TraceEvent", "Something that one rank does for a while.")
      .def_prop_ro("activity", [](const TraceEvent& e) { return name_of(e.activity); })
      .def_ro("rank", &TraceEvent::rank)
      .def_ro("peer", &TraceEvent::peer, "-1 if there is none.")
      .def_ro("start", &TraceEvent::start, "Seconds.")
      .def_ro("seconds", &TraceEvent::seconds)
      .def_ro("bytes", &TraceEvent::bytes)
      .def_ro("round", &TraceEvent::round)
      .def_ro("segment", &TraceEvent::segment);
  nb::class_<Simulator>(m, "Simulator",
                        "The schedules of an algorithm, reduced to what time depends on. Raises stretto.Error where "
                        "there would be too much to do.")
      .def(
          "__init__",
          [](Simulator* self, const Algorithm& algorithm, const Shape& shape, const Params& params,
             const Placement& placement, bool all_ranks, std::optional<Function> function, double most_seconds) {
            require_suitable(algorithm, shape, params);
            const nb::gil_scoped_release release;
            new (self) Simulator(algorithm, shape, params, placement, all_ranks, function, most_seconds);
          },
          nb::arg("algorithm"), nb::arg("shape"), nb::arg("params") = Params{}, nb::arg("placement") = Placement{},
          nb::arg("all_ranks") = false, nb::arg("function") = nb::none(),
          nb::arg("most_seconds") = Simulator::longest_building, nb::keep_alive<1, 2>())
      .def("run", &Simulator::run, nb::arg("load"), nb::arg("machine"), nb::call_guard<nb::gil_scoped_release>(),
           "The time of a call.")
      .def("trace", &Simulator::trace, nb::arg("load"), nb::arg("machine"), nb::call_guard<nb::gil_scoped_release>(),
           "What every rank does, in the order of ranks and time.")
      .def_prop_ro("simulated_ranks", &Simulator::simulated_ranks,
                   "Fewer than all where ranks do the same but for a rotation of their numbers.")
      .def_prop_ro("rounds", &Simulator::rounds, "Of all simulated ranks.");
  m.def(
      "predict",
      [](const Algorithm& algorithm, const Shape& shape, const Params& params, Bytes bytes, const Machine& machine,
         const Placement& placement, const Operation& operation) {
        require_suitable(algorithm, shape, params);
        return predict(algorithm, shape, params, bytes, machine, placement, operation);
      },
      nb::arg("algorithm"), nb::arg("shape"), nb::arg("params"), nb::arg("bytes"), nb::arg("machine"),
      nb::arg("placement") = Placement{}, nb::arg("operation") = Operation{}, nb::call_guard<nb::gil_scoped_release>(),
      "The time of a call: by the formula where it holds, else by simulation.");
}

}  // namespace stretto::python

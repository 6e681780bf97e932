// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/cost.hpp"

#include "register.hpp"

namespace stretto::python {

void register_cost(nb::module_& m) {
  nb::class_<Prediction>(m, "Prediction", "The seconds of a call, and what of them goes to what.")
      .def_ro("seconds", &Prediction::seconds)
      .def_ro("latency", &Prediction::latency, "α, and the overheads of messages.")
      .def_ro("bandwidth", &Prediction::bandwidth, "Bytes on their way or copied.")
      .def_ro("reduction", &Prediction::reduction)
      .def_ro("waiting", &Prediction::waiting, "For a port, a core or a wire that others use.");
  nb::class_<Load>(m, "Load", "What is to be done with an algorithm.")
      .def(nb::init<Bytes, Bytes, int, const Operation&>(), nb::arg("bytes"), nb::arg("segment") = 0,
           nb::arg("depth") = 2, nb::arg("operation") = Operation{})
      .def_ro("bytes", &Load::bytes, "The whole vector: all parts together.")
      .def_ro("segment", &Load::segment)
      .def_ro("depth", &Load::depth)
      .def_ro("operation", &Load::operation);
  m.def(
      "formula",
      [](const Algorithm& algorithm, const Shape& shape, const Params& params, const Load& load, const Machine& machine,
         const Placement& placement) {
        require_suitable(algorithm, shape, params);
        return formula(algorithm, shape, params, load, machine, placement);
      },
      nb::arg("algorithm"), nb::arg("shape"), nb::arg("params"), nb::arg("load"), nb::arg("machine"),
      nb::arg("placement") = Placement{}, "rounds·α + bytes sent·β + bytes combined·γ, by the algorithm's record.");
  m.def(
      "formula_misses",
      [](const Algorithm& algorithm, const Shape& shape, const Load& load, const Machine& machine,
         const Placement& placement, const Params& params) {
        require_suitable(algorithm, shape, params);
        return formula_misses(algorithm, shape, load, machine, placement, params);
      },
      nb::arg("algorithm"), nb::arg("shape"), nb::arg("load"), nb::arg("machine"), nb::arg("placement") = Placement{},
      nb::arg("params") = Params{}, "Why the formula is not what the simulation gives; empty if it is.");
}

}  // namespace stretto::python

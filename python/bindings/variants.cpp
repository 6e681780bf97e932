// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/variants.hpp"

#include "register.hpp"

namespace stretto::python {

void register_variants(nb::module_& m) {
  nb::class_<Variant>(m, "Variant", "Shape and parameters that an algorithm is tried with.")
      .def(nb::init<const Shape&, const Params&>(), nb::arg("shape"), nb::arg("params") = Params{})
      .def_ro("shape", &Variant::shape)
      .def_ro("params", &Variant::params);
  m.def("variants", &variants, nb::arg("algorithm"), nb::arg("ranks"), nb::arg("root") = 0,
        "The default first, then other parameters, lists and counts, the same ones at every call; none if the "
        "algorithm is not for so many ranks.");
  m.def(
      "to_text", [](const Variant& variant, const Algorithm& algorithm) { return to_text(variant, algorithm); },
      nb::arg("variant"), nb::arg("algorithm"), "\"radix=3\", \"skips=4:2:1\"; empty for the default.");
}

}  // namespace stretto::python

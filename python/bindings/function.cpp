// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/function.hpp"

#include "register.hpp"

namespace stretto::python {

void register_function(nb::module_& m) {
  auto values = nb::enum_<Function>(m, "Function", "A function of MPI that Stretto takes the place of.");
  for (const Function function : all_functions) values.value(facts(function).name.data(), function);
  nb::class_<FunctionFacts>(m, "FunctionFacts", "What holds of an MPI function.")
      .def_ro("name", &FunctionFacts::name)
      .def_ro("collective", &FunctionFacts::collective, "What it asks for.")
      .def_ro("irregular", &FunctionFacts::irregular, "The parts of the ranks may differ in size.")
      .def_ro("bytes_known", &FunctionFacts::bytes_known,
              "To all ranks; else a choice goes by a size hint that they agree on.");
  m.def("all_functions", [] { return std::vector(std::begin(all_functions), std::end(all_functions)); });
  m.def("facts", nb::overload_cast<Function>(&facts), nb::arg("function"), nb::rv_policy::reference);
  m.def(
      "find_function", [](std::string_view name) { return function_named(name); }, nb::arg("name"),
      "\"reduce_scatter_block\"; None if there is none of that name.");
}

}  // namespace stretto::python

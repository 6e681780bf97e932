// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/sources.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "register.hpp"

namespace stretto::python {

void register_sources(nb::module_& m) {
  m.attr("shipped_word") = std::string(shipped_word);
  m.def("mpi_title", &mpi_title, nb::arg("library_version"),
        "\"MPICH 5.0.2\", \"Open MPI 5.0.11\": the MPI that says so of itself.");
  m.def("this_machine", &this_machine, nb::arg("mpi"),
        "What stands in a machine line: model and number of this node's cores, and the MPI's title.");
  m.def(
      "shipped_rules_text", [] { return find_rules(std::string(shipped_word), nullptr).text; },
      "The file that is part of the library, word for word.");
  m.def("tuned_rules_path", &tuned_rules_path,
        "Where the rules tuned for this machine are looked for; empty if the environment names no folder.");
}

}  // namespace stretto::python

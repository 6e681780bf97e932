// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/sources.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "register.hpp"

namespace stretto::python {

void register_sources(nb::module_& m) {
  m.attr("least_lent") = least_lent;
  m.attr("shipped_word") = std::string(shipped_word);
  nb::class_<FoundRules>(m, "FoundRules", "Rules as text, and the sources above them that cannot be used.")
      .def_ro("file", &FoundRules::file, "A path, or \"shipped rules\".")
      .def_ro("text", &FoundRules::text)
      .def_prop_ro(
          "refused",
          [](const FoundRules& f) {
            std::vector<std::pair<std::string, std::string>> all;
            for (const Error& e : f.refused) all.emplace_back(e.what(), e.hint());
            return all;
          },
          "(message, hint) of each; the message says what decides instead.");
  m.def("find_rules", &find_rules, nb::arg("named"), nb::arg("mpi"),
        "The rules that decide on this machine. `named` is the value of STRETTO_RULES, or empty; `mpi` is asked for "
        "the MPI's title if a file names a machine.");
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

// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/sources.hpp"

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
  m.def(
      "find_rules",
      [](const std::string& named, const std::function<std::string()>& mpi) { return find_rules({named}, mpi); },
      nb::arg("named"), nb::arg("mpi"),
      "The rules that decide on this machine. `named` is the value of STRETTO_RULES, or empty; `mpi` is asked for the "
      "MPI's title if there are files for machines.");
  m.def("complete_rules", &complete_rules, nb::arg("text"), nb::arg("file"),
        "What find_rules() found, parsed, and with the shipped rules behind it where its last file goes on.");
  m.def("this_machine", &this_machine, nb::arg("mpi"),
        "What stands in a machine line: model and number of this node's cores, and the MPI's title.");
  m.def(
      "shipped_rules_text", [] { return shipped_rules_text; }, "The file that is part of the library, word for word.");
  m.def(
      "config_folders",
      [] {
        const ConfigFolders folders = config_folders();
        return std::pair(folders.user, folders.site);
      },
      "Where files for this machine are kept: the user's folder (empty if the environment names none), the site's.");
  m.def("tuned_rules_path", &tuned_rules_path, nb::arg("folder"), nb::arg("machine"),
        "The file in one of config_folders() for the rules that were tuned for a machine; empty if `folder` is.");
  m.def("learned_rules_path", &learned_rules_path, nb::arg("folder"), nb::arg("machine"),
        "The same for rules that programs learned.");
}

}  // namespace stretto::python

// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/algorithm_file.hpp"

#include <mutex>

#include "register.hpp"
#include "stretto/rules.hpp"
#include "stretto/sources.hpp"

namespace stretto::python {

const Algorithm& algorithm_of_file(const std::string& path) {
  static auto& all = *new std::vector<std::unique_ptr<AlgorithmFile>>;  // records are handed out without an owner
  static std::mutex mutex;
  auto file = std::make_unique<AlgorithmFile>(text_of_file(path, "a file of schedules", std::size_t{64} << 20), path);
  const std::lock_guard lock(mutex);
  return all.emplace_back(std::move(file))->algorithm();
}

void register_algorithm_file(nb::module_& m) {
  nb::class_<AlgorithmFile>(
      m, "AlgorithmFile",
      "The schedules of an algorithm for some numbers of ranks and roots, made elsewhere; nothing "
      "is done with them before the checker has proved them.")
      .def(nb::init<std::string, bool, std::vector<Schedule>>(), nb::arg("id"), nb::arg("commutative"),
           nb::arg("schedules"), "Raises stretto.Error where schedules of ranks are missing or stand twice.")
      .def(nb::init<std::string_view, const std::string&>(), nb::arg("text"), nb::arg("path"),
           "Read the text of a file; raises stretto.Error naming `path` and the line.")
      .def_prop_ro("algorithm", &AlgorithmFile::algorithm, nb::rv_policy::reference_internal,
                   "Its record, whose id is \"allgather/file:PATH\" if it was read.")
      .def_prop_ro(
          "cases",
          [](const AlgorithmFile& file) {
            std::vector<std::vector<Rank>> cases;
            for (const auto& one : file.cases()) cases.push_back({one.ranks, one.root});
            return cases;
          },
          "Numbers of ranks, each with its root.")
      .def(
          "schedules", [](const AlgorithmFile& file, Rank ranks, Rank root) { return file.schedules({ranks, root}); },
          nb::arg("ranks"), nb::arg("root") = 0, "Of all ranks; raises stretto.Error if there are none.")
      .def(
          "proof", [](const AlgorithmFile& file, Rank ranks, Rank root) { return file.proof({ranks, root}); },
          nb::arg("ranks"), nb::arg("root") = 0, nb::call_guard<nb::gil_scoped_release>(),
          "Of these schedules, in place too where that is allowed; made once.")
      .def("text", &AlgorithmFile::text, "As a file holds them.");
}

}  // namespace stretto::python

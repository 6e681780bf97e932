// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/algorithm.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "register.hpp"
#include "stretto/error.hpp"

namespace stretto::python {

namespace {

Schedule checked_schedule(const Algorithm& algorithm, const Shape& shape, Rank rank, const Params& params) {
  if (rank < 0 || rank >= shape.ranks) {
    throw Error("rank " + std::to_string(rank) + " is not one of the " + std::to_string(shape.ranks) + " ranks",
                "ranks count from 0 to " + std::to_string(shape.ranks - 1));
  }
  return build_schedule(algorithm, shape, rank, params);
}

}  // namespace

void register_algorithm(nb::module_& m) {
  nb::class_<Params>(m, "Params", "What the chooser may vary.")
      .def(
          "__init__",
          [](Params* self, Bytes segment, int depth) { new (self) Params{.segment = segment, .depth = depth}; },
          nb::arg("segment") = 0, nb::arg("depth") = 2)
      .def_rw("segment", &Params::segment, "Segments of so many bytes of the vector; 0: not cut.")
      .def_rw("depth", &Params::depth, "Segments in flight.")
      .def("__eq__", [](const Params& a, const Params& b) { return a == b; }, nb::is_operator());
  nb::class_<Algorithm>(m, "Algorithm",
                        "The record of an algorithm; rounds and blocks along the longest chain of rounds.")
      .def_ro("id", &Algorithm::id)
      .def_prop_ro("name", &Algorithm::name)
      .def_ro("summary", &Algorithm::summary)
      .def_ro("source", &Algorithm::source)
      .def_ro("volume", &Algorithm::volume)
      .def_ro("collective", &Algorithm::collective)
      .def_prop_ro("needs_commutative", [](const Algorithm& a) { return a.needs.commutative; })
      .def(
          "blocks", [](const Algorithm& a, const Shape& shape) { return a.blocks(shape); }, nb::arg("shape"))
      .def(
          "rounds", [](const Algorithm& a, const Shape& shape) { return a.rounds(shape); }, nb::arg("shape"))
      .def(
          "sent", [](const Algorithm& a, const Shape& shape) { return a.sent(shape); }, nb::arg("shape"))
      .def(
          "combined", [](const Algorithm& a, const Shape& shape) { return a.combined(shape); }, nb::arg("shape"))
      .def("__repr__", [](const Algorithm& a) { return "<Algorithm " + std::string(a.id) + ">"; });
  m.def(
      "all_algorithms",
      [] {
        nb::list all;
        for (const Algorithm* one : all_algorithms()) all.append(nb::cast(one, nb::rv_policy::reference));
        return all;
      },
      nb::sig("def all_algorithms() -> list[Algorithm]"), "Every algorithm, sorted by id.");
  m.def("find_algorithm", &find_algorithm, nb::arg("id"), nb::rv_policy::reference,
        nb::sig("def find_algorithm(id: str) -> Algorithm | None"), "None if there is none of that id.");
  m.def("unsuitable", &unsuitable, nb::arg("algorithm"), nb::arg("commutative"),
        "Why the algorithm cannot serve a call, in words; empty if it can.");
  m.def("build_schedule", &checked_schedule, nb::arg("algorithm"), nb::arg("shape"), nb::arg("rank"),
        nb::arg("params") = Params{}, "One rank's schedule.");
}

}  // namespace stretto::python

// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/algorithm.hpp"

#include "register.hpp"

namespace stretto::python {

void require_counts(const Algorithm& algorithm, const Shape& shape) {
  if (algorithm.needs.counts && shape.counts.empty()) {
    throw Error(std::string(algorithm.id) + " goes by the sizes of the ranks' parts",
                "give them: Shape(…, counts=[…]), or --counts 3,0,5 of a command");
  }
}

void require_suitable(const Algorithm& algorithm, const Shape& shape, const Params& params) {
  require_counts(algorithm, shape);
  const std::string why_not = unsuitable(algorithm, shape, params);
  if (!why_not.empty()) {
    throw Error(std::string(algorithm.id) + " cannot be built: " + why_not,
                "`stretto list` shows what each algorithm needs");
  }
}

namespace {

/// A function of the record, for shape and parameters that it is defined for.
template <auto Function>
auto of_record(const Algorithm& algorithm, const Shape& shape, const Params& params) {
  require_suitable(algorithm, shape, params);
  return (algorithm.*Function)(shape, resolved(algorithm, shape, params));
}

Schedule checked_schedule(const Algorithm& algorithm, const Shape& shape, Rank rank, const Params& params) {
  if (rank < 0 || rank >= shape.ranks) {
    throw Error("rank " + std::to_string(rank) + " is not one of the " + std::to_string(shape.ranks) + " ranks",
                "ranks count from 0 to " + std::to_string(shape.ranks - 1));
  }
  require_suitable(algorithm, shape, params);
  return build_schedule(algorithm, shape, rank, params);
}

void register_params(nb::module_& m) {
  nb::enum_<Copy>(m, "Copy", "How long messages go from one rank to another on a node.")
      .value("staged", Copy::staged, "Twice, through shared memory.")
      .value("kernel", Copy::kernel, "Once, by the kernel.")
      .value("measured", Copy::measured, "Each in the one or the other way, as measured of those before it.");
  nb::class_<Params>(m, "Params", "What the chooser may vary.")
      .def(nb::init<Bytes, int, std::int64_t, std::vector<Rank>, Copy>(), nb::arg("segment") = 0, nb::arg("depth") = 2,
           nb::arg("value") = 0, nb::arg("list") = std::vector<Rank>(), nb::arg("copy") = Copy::staged)
      .def_rw("segment", &Params::segment, "Segments of so many bytes of the vector; 0: not cut.")
      .def_rw("depth", &Params::depth, "Segments in flight.")
      .def_rw("value", &Params::value, "Of the algorithm's own parameter; 0: its default.")
      // In this class the name `list` is taken.
      .def_rw("list", &Params::list, nb::for_getter(nb::sig("def list(self) -> collections.abc.Sequence[int]")),
              "The algorithm's own list; empty: its default.")
      .def_rw("copy", &Params::copy, "Of long messages on a node.")
      .def("__eq__", [](const Params& a, const Params& b) { return a == b; }, nb::is_operator());
  nb::class_<Parameter>(m, "Parameter", "A number that an algorithm leaves open, such as the radix of a tree.")
      .def_ro("name", &Parameter::name)
      .def_ro("least", &Parameter::least, "The smallest value.")
      .def_ro("most", &Parameter::most, "The largest value.")
      .def(
          "default",
          [](const Parameter& p, const Shape& shape) { return p.default_value ? p.default_value(shape) : 0; },
          nb::arg("shape"), "The value if none is given.");
  nb::enum_<RanksNeeded>(m, "RanksNeeded", "Which numbers of ranks an algorithm is for.")
      .value("any", RanksNeeded::any)
      .value("even", RanksNeeded::even)
      .value("power_of_two", RanksNeeded::power_of_two);
  nb::class_<Needs>(m, "Needs", "What must hold of a call.")
      .def_ro("commutative", &Needs::commutative, "The operator must commute; if not, rank order is kept.")
      .def_ro("ranks", &Needs::ranks)
      .def_ro("irregular", &Needs::irregular, "For the functions whose parts differ in size.")
      .def_ro("counts", &Needs::counts, "The schedule depends on Shape.counts.");
}

void register_algorithm_record(nb::module_& m) {
  nb::class_<Algorithm>(m, "Algorithm",
                        "The record of an algorithm; rounds and blocks along the longest chain of rounds. Where a "
                        "number of ranks or a parameter does not suit it, stretto.Error is raised.")
      .def_ro("id", &Algorithm::id)
      .def_prop_ro("name", &Algorithm::name)
      .def_ro("summary", &Algorithm::summary)
      .def_ro("source", &Algorithm::source)
      .def_ro("volume", &Algorithm::volume)
      .def_ro("collective", &Algorithm::collective)
      .def_ro("needs", &Algorithm::needs)
      .def_prop_ro(
          "parameter", [](const Algorithm& a) { return a.parameter.name.empty() ? nullptr : &a.parameter; },
          nb::rv_policy::reference_internal, nb::sig("def parameter(self) -> Parameter | None"),
          "The number that it leaves open.")
      .def_prop_ro(
          "list",
          [](const Algorithm& a) { return a.list.empty() ? std::nullopt : std::optional<std::string_view>(a.list); },
          "Name of the list that it takes: \"skips\".")
      .def_ro("padded", &Algorithm::padded, "Blocks of different sizes travel as if all had the largest one's.")
      .def_ro("forwards", &Algorithm::forwards, "Ranks pass blocks of others on, whose sizes they may not know.")
      .def("blocks", &of_record<&Algorithm::blocks>, nb::arg("shape"), nb::arg("params") = Params{})
      .def("rounds", &of_record<&Algorithm::rounds>, nb::arg("shape"), nb::arg("params") = Params{})
      .def("sent", &of_record<&Algorithm::sent>, nb::arg("shape"), nb::arg("params") = Params{})
      .def("combined", &of_record<&Algorithm::combined>, nb::arg("shape"), nb::arg("params") = Params{})
      .def(
          "at_most",
          [](const Algorithm& a, const Shape& shape, const Params& params) {
            require_suitable(a, shape, params);
            return a.at_most && a.at_most(shape, resolved(a, shape, params));
          },
          nb::arg("shape"), nb::arg("params") = Params{}, "Are rounds, sent and combined bounds?")
      .def("__repr__", [](const Algorithm& a) { return "<Algorithm " + std::string(a.id) + ">"; });
}

}  // namespace

void register_algorithm(nb::module_& m) {
  register_params(m);
  register_algorithm_record(m);
  m.def(
      "all_algorithms", [] { return std::vector(all_algorithms().begin(), all_algorithms().end()); },
      nb::rv_policy::reference, "Every algorithm, sorted by id.");
  m.def("find_algorithm", &find_algorithm, nb::arg("id"), nb::rv_policy::reference,
        nb::sig("def find_algorithm(id: str) -> Algorithm | None"), "None if there is none of that id.");
  m.def("resolved", &resolved, nb::arg("algorithm"), nb::arg("shape"), nb::arg("params") = Params{},
        "The parameters with the default of what they leave open.");
  m.def(
      "unsuitable",
      [](const Algorithm& algorithm, const Shape& shape, const Params& params) {
        require_counts(algorithm, shape);
        return unsuitable(algorithm, shape, params);
      },
      nb::arg("algorithm"), nb::arg("shape"), nb::arg("params") = Params{},
      "Why the algorithm cannot be built with such ranks and parameters, in words; empty if it can.");
  m.def(
      "unsuitable",
      [](const Algorithm& algorithm, Function function, const Shape& shape, bool commutative, const Params& params) {
        require_counts(algorithm, shape);
        return unsuitable(algorithm, function, shape, commutative, params);
      },
      nb::arg("algorithm"), nb::arg("function"), nb::arg("shape"), nb::arg("commutative") = true,
      nb::arg("params") = Params{}, "The same for a call.");
  m.def("build_schedule", &checked_schedule, nb::arg("algorithm"), nb::arg("shape"), nb::arg("rank"),
        nb::arg("params") = Params{}, "One rank's schedule.");
}

}  // namespace stretto::python

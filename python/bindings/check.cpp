// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/check.hpp"

#include "register.hpp"

namespace stretto::python {

namespace {

void register_answers(nb::module_& m) {
  nb::class_<Refused>(m, "Refused", "A refusal and its message, which names rank, round and block.")
      .def_prop_ro(
          "name", [](const Refused& r) { return name_of(r.why); }, "In words: \"double counting\".")
      .def_ro("message", &Refused::message);
  nb::class_<Measured>(m, "Measured",
                       "Counted in the schedules, along the longest chain of rounds that wait for each other.")
      .def_ro("rounds", &Measured::rounds)
      .def_ro("sent", &Measured::sent)
      .def_ro("combined", &Measured::combined)
      .def_ro("messages", &Measured::messages, "In all, not along a chain.");
  nb::class_<Checked>(m, "Checked", "What the checker found.")
      .def_ro("refused", &Checked::refused, "None if all was proved.")
      .def_ro("measured", &Checked::measured);
}

void register_record(nb::module_& m) {
  nb::class_<Delivery>(m, "Delivery", "A message as the checker saw it pass.")
      .def_ro("step", &Delivery::step, "Both its ends had come to it, from 1.")
      .def_ro("from_rank", &Delivery::from)
      .def_ro("to_rank", &Delivery::to)
      .def_ro("combined", &Delivery::combined, "By its receive, or by another action of the same step.");
  nb::class_<Held>(m, "Held", "What stands somewhere of a block.")
      .def_ro("block", &Held::block)
      .def_ro("result", &Held::result, "It is in the output.")
      .def_ro("contributions", &Held::contributions, "Ranks, in the order of the operands.");
  nb::class_<Holding>(m, "Holding", "What a rank holds when a round has ended.")
      .def_ro("step", &Holding::step, "At whose end that was; 0: before the first.")
      .def_ro("held", &Holding::held, "Slots in the order in which they were first written.");
  nb::class_<Record>(m, "Record", "All that ranks do.")
      .def_ro("messages", &Record::messages, "Those that rank 0 takes, in that order, then those of rank 1, and so on.")
      .def(
          "blocks_of",
          [](const Record& record, const Delivery& message) {
            const auto first = record.blocks.begin() + message.blocks.first;
            return std::vector<Block>(first, first + message.blocks.count);
          },
          nb::arg("message"))
      .def_ro("holdings", &Record::holdings, "Of each rank, the first before all rounds.");
  m.def(
      "record",
      [](const Algorithm& algorithm, const Shape& shape, const Params& params) {
        require_suitable(algorithm, shape, params);
        std::vector<Schedule> schedules;
        for (Rank r = 0; r < shape.ranks; ++r) schedules.push_back(build_schedule(algorithm, shape, r, params));
        return record(schedules, {algorithm.collective, shape, algorithm.needs.commutative});
      },
      nb::arg("algorithm"), nb::arg("shape"), nb::arg("params") = Params{}, nb::call_guard<nb::gil_scoped_release>(),
      "What an algorithm does that check_algorithm() has proved.");
}

}  // namespace

void register_check(nb::module_& m) {
  register_answers(m);
  register_record(m);
  nb::class_<Question>(m, "Question", "What is to be proved of a set of schedules.")
      .def(nb::init<Collective, const Shape&, bool, bool>(), nb::arg("collective"), nb::arg("shape"),
           nb::arg("commutative") = false, nb::arg("in_place") = false)
      .def_ro("collective", &Question::collective)
      .def_ro("shape", &Question::shape)
      .def_ro("commutative", &Question::commutative)
      .def_ro("in_place", &Question::in_place);
  m.def(
      "check_schedules",
      [](const std::vector<Schedule>& schedules, const Question& question) { return check(schedules, question); },
      nb::arg("schedules"), nb::arg("question"), nb::call_guard<nb::gil_scoped_release>(),
      "Prove `question` of all ranks' schedules, in the order of the ranks.");
  m.def(
      "check_algorithm",
      [](const Algorithm& algorithm, const Shape& shape, const Params& params) {
        require_suitable(algorithm, shape, params);
        return check(algorithm, shape, params);
      },
      nb::arg("algorithm"), nb::arg("shape"), nb::arg("params") = Params{}, nb::call_guard<nb::gil_scoped_release>(),
      "Build all schedules and prove them, in place too where allowed, and hold rounds and volume to the record.");
  m.def(
      "check_against_record",
      [](const std::vector<Schedule>& schedules, const Algorithm& algorithm, const Shape& shape, const Params& params) {
        require_suitable(algorithm, shape, params);
        return check_against_record(schedules, algorithm, shape, params);
      },
      nb::arg("schedules"), nb::arg("algorithm"), nb::arg("shape"), nb::arg("params") = Params{},
      nb::call_guard<nb::gil_scoped_release>(),
      "The same for given schedules instead of those that the algorithm builds.");
}

}  // namespace stretto::python

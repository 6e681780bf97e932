// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/schedule.hpp"

#include "register.hpp"

namespace stretto::python {

namespace {

// Python gets rounds that own what is in them; the flat arrays and their slices stay on this side.
struct SendView {
  Rank peer;
  Ranges blocks;
};

struct ActionView {
  ActionKind kind;
  Side side;
  Rank peer;
  Ranges target, source, operand;
};

struct RoundView {
  std::vector<SendView> sends;
  std::vector<ActionView> actions;
};

Ranges owned(const Schedule& schedule, Slice slice) {
  const auto ranges = schedule.at(slice);
  return {ranges.begin(), ranges.end()};
}

std::vector<RoundView> rounds_of(const Schedule& schedule) {
  std::vector<RoundView> rounds;
  for (const Round& round : schedule.rounds) {
    RoundView& view = rounds.emplace_back();
    for (const Send& send : schedule.sends_of(round)) view.sends.push_back({send.peer, owned(schedule, send.blocks)});
    for (const Action& action : schedule.actions_of(round)) {
      view.actions.push_back({action.kind, action.side, action.peer, owned(schedule, action.target),
                              owned(schedule, action.source), owned(schedule, action.operand)});
    }
  }
  return rounds;
}

void register_enums(nb::module_& m) {
  nb::enum_<Buffer>(m, "Buffer", "Where a block lies.")
      .value("input", Buffer::input)
      .value("output", Buffer::output)
      .value("scratch", Buffer::scratch);
  nb::enum_<Side>(m, "Side", "Which side of the operator the arriving (or source) operand takes.")
      .value("left", Side::left)
      .value("right", Side::right);
  nb::enum_<ActionKind>(m, "ActionKind", "What an action of a round does.")
      .value("receive", ActionKind::receive)
      .value("receive_reduce", ActionKind::receive_reduce)
      .value("copy", ActionKind::copy)
      .value("reduce", ActionKind::reduce);
}

void register_parts(nb::module_& m) {
  nb::class_<Parts>(m, "Parts", "How a vector that has a part for each rank is cut into blocks.")
      .def(nb::init<std::vector<Block>>(), nb::arg("first") = std::vector<Block>())
      .def_ro("first", &Parts::first, "The first block of each rank's part, and the end; empty: one block each.")
      .def("owner", &Parts::owner, nb::arg("block"))
      .def("__eq__", [](const Parts& a, const Parts& b) { return a == b; }, nb::is_operator());
}

void register_files(nb::module_& m) {
  nb::class_<ScheduleFile>(m, "ScheduleFile", "What a file of schedules says.")
      .def_ro("commutative", &ScheduleFile::commutative, "Their operator must commute.")
      .def_ro("schedules", &ScheduleFile::schedules)
      .def_ro("lines", &ScheduleFile::lines, "Of each: where it begins, then where its rounds do.");
  m.def(
      "schedules_to_text",
      [](const std::vector<Schedule>& schedules, bool commutative) { return to_text(schedules, commutative); },
      nb::arg("schedules"), nb::arg("commutative"), "A whole file of them, with its version.");
  m.def("parse_schedule_file", &parse_schedule_file, nb::arg("text"), nb::arg("file") = "<text>",
        "Read a file of schedules; raises stretto.Error naming `file` and the line.");
}

}  // namespace

void register_schedule(nb::module_& m) {
  register_enums(m);
  register_parts(m);
  nb::class_<Range>(m, "Range", "Slots first … first+count-1 of one buffer.")
      .def(nb::init<Buffer, Block, Block>(), nb::arg("buffer"), nb::arg("first"), nb::arg("count") = 1)
      .def_ro("buffer", &Range::buffer)
      .def_ro("first", &Range::first)
      .def_ro("count", &Range::count)
      .def(
          "__eq__", [](const Range& a, const Range& b) { return a == b; }, nb::is_operator())
      .def("__hash__",
           [](const Range& r) { return nb::hash(nb::make_tuple(static_cast<int>(r.buffer), r.first, r.count)); })
      .def("__repr__", [](const Range& r) {
        return "Range(" + std::string(name_of(r.buffer)) + ", " + std::to_string(r.first) + ", " +
               std::to_string(r.count) + ")";
      });
  nb::class_<SendView>(m, "Send", "A message that leaves at the beginning of its round.")
      .def_ro("peer", &SendView::peer)
      .def_ro("blocks", &SendView::blocks);
  nb::class_<ActionView>(m, "Action", "One item of a round's ordered list; `peer` is -1 unless it receives.")
      .def_ro("kind", &ActionView::kind)
      .def_ro("side", &ActionView::side)
      .def_ro("peer", &ActionView::peer)
      .def_ro("target", &ActionView::target)
      .def_ro("source", &ActionView::source)
      .def_ro("operand", &ActionView::operand);
  nb::class_<RoundView>(m, "Round", "All sends first, then the actions in their order.")
      .def_ro("sends", &RoundView::sends)
      .def_ro("actions", &RoundView::actions);
  nb::class_<Schedule>(m, "Schedule",
                       "What one rank does in a collective, as data; it speaks of blocks, never of bytes.")
      .def_ro("algorithm", &Schedule::algorithm)
      .def_ro("ranks", &Schedule::ranks)
      .def_ro("rank", &Schedule::rank)
      .def_ro("root", &Schedule::root)
      .def_ro("blocks", &Schedule::blocks)
      .def_rw("parts", &Schedule::parts, "Of collectives whose vector has a part for each rank.")
      .def_prop_ro(
          "scratch", [](const Schedule& schedule) { return schedule.scratch.blocks(); },
          "For every scratch slot, the block of the vector whose size it has.")
      .def_prop_ro("rounds", &rounds_of)
      .def("__str__", [](const Schedule& schedule) { return to_text(schedule); });
  m.def(
      "to_text", [](const Schedule& schedule) { return to_text(schedule); }, nb::arg("schedule"),
      "The one text form of a schedule; `parse_schedules` reads it back.");
  register_files(m);
  m.def("parse_schedules", &parse_schedules, nb::arg("text"), nb::arg("file") = "<text>",
        "Read any number of schedules; raises stretto.Error naming `file` and the line.");
}

}  // namespace stretto::python

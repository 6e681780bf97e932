// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/builder.hpp"

#include "register.hpp"

namespace stretto::python {

void register_builder(nb::module_& m) {
  m.def("input", &stretto::input, nb::arg("first"), nb::arg("count") = 1, "A range of input blocks.");
  m.def("output", &stretto::output, nb::arg("first"), nb::arg("count") = 1, "A range of output blocks.");
  m.def("scratch", &stretto::scratch, nb::arg("first"), nb::arg("count") = 1, "A range of scratch slots.");
  m.def("wrapped", &stretto::wrapped, nb::arg("buffer"), nb::arg("first"), nb::arg("count"), nb::arg("modulus"),
        "`count` blocks from `first` on, counted modulo `modulus`: one range or two.");
  nb::class_<Builder>(m, "Builder", "Writes one rank's schedule round by round.")
      .def(nb::init<Rank, Rank, Block>(), nb::arg("rank"), nb::arg("ranks"), nb::arg("blocks"))
      .def_prop_ro("rank", &Builder::rank)
      .def_prop_ro("ranks", &Builder::ranks)
      .def_prop_ro("blocks", &Builder::blocks)
      .def("round", &Builder::round, "End the round and begin the next.")
      .def("send", &Builder::send, nb::arg("peer"), nb::arg("blocks"))
      .def("receive", &Builder::receive, nb::arg("peer"), nb::arg("target"))
      .def("receive_reduce", nb::overload_cast<Rank, const Ranges&, Side, const Ranges&>(&Builder::receive_reduce),
           nb::arg("peer"), nb::arg("target"), nb::arg("message"), nb::arg("operand"))
      .def("receive_reduce", nb::overload_cast<Rank, const Ranges&, Side>(&Builder::receive_reduce), nb::arg("peer"),
           nb::arg("target"), nb::arg("message"))
      .def("copy", &Builder::copy, nb::arg("source"), nb::arg("target"))
      .def("reduce", &Builder::reduce, nb::arg("source"), nb::arg("target"), nb::arg("side"), nb::arg("operand"))
      .def("new_scratch", &Builder::new_scratch, nb::arg("first"), nb::arg("count"),
           "New scratch slots as large as these blocks of the vector; returns the first slot.")
      .def(
          "in_group",
          [](Builder& self, const std::vector<Rank>& members, const nb::callable& body) {
            self.in_group(members, [&](Builder& builder) { body(nb::cast(builder, nb::rv_policy::reference)); });
          },
          nb::arg("members"), nb::arg("body"), "Run `body(builder)` in the group of `members`, if I am one of them.")
      .def(
          "in_blocks",
          [](Builder& self, Block first, const nb::callable& body) {
            self.in_blocks(first, [&](Builder& builder) { body(nb::cast(builder, nb::rv_policy::reference)); });
          },
          nb::arg("first"), nb::arg("body"), "Run `body(builder)` with its block 0 standing for block `first`.")
      .def(
          "finish",
          [](Builder& self, std::string algorithm, Rank root) {
            Schedule schedule = self.finish();
            schedule.algorithm = std::move(algorithm);
            schedule.root = root;
            return schedule;
          },
          nb::arg("algorithm") = "", nb::arg("root") = 0, "The schedule, with the id of its algorithm and its root.");
}

}  // namespace stretto::python

// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/collective.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "register.hpp"
#include "stretto/error.hpp"

namespace stretto::python {

namespace {

Shape checked_shape(Rank ranks, Rank root) {
  if (ranks < 1) throw Error("there is no collective of " + std::to_string(ranks) + " ranks", "use 1 rank or more");
  if (root < 0 || root >= ranks) {
    throw Error("root " + std::to_string(root) + " is not one of the " + std::to_string(ranks) + " ranks",
                "ranks count from 0 to " + std::to_string(ranks - 1));
  }
  return {ranks, root};
}

std::string names_of_collectives() {
  std::string names;
  for (const Collective collective : all_collectives) {
    names += (names.empty() ? "" : ", ") + std::string(facts(collective).name);
  }
  return names;
}

}  // namespace

void register_collective(nb::module_& m) {
  nb::enum_<Collective>(m, "Collective", "A collective operation of MPI.")
      .value("barrier", Collective::barrier)
      .value("bcast", Collective::bcast)
      .value("reduce", Collective::reduce)
      .value("allreduce", Collective::allreduce)
      .value("allgather", Collective::allgather)
      .value("reduce_scatter_block", Collective::reduce_scatter_block);
  nb::class_<CollectiveFacts>(m, "CollectiveFacts", "What holds of a collective whatever the algorithm.")
      .def_ro("name", &CollectiveFacts::name)
      .def_ro("rooted", &CollectiveFacts::rooted)
      .def_ro("reduces", &CollectiveFacts::reduces)
      .def_ro("per_rank", &CollectiveFacts::per_rank, "One block per rank, given by the call.");
  nb::class_<Shape>(m, "Shape", "Ranks and root of a call.")
      .def(
          "__init__", [](Shape* self, Rank ranks, Rank root) { new (self) Shape(checked_shape(ranks, root)); },
          nb::arg("ranks"), nb::arg("root") = 0)
      .def_ro("ranks", &Shape::ranks)
      .def_ro("root", &Shape::root);
  nb::class_<Content> content(m, "Content", "What stands in one slot before or after a collective.");
  nb::enum_<Content::Kind>(content, "Kind")
      .value("nothing", Content::Kind::nothing)
      .value("contribution", Content::Kind::contribution)
      .value("reduction", Content::Kind::reduction);
  content.def_ro("kind", &Content::kind).def_ro("from_rank", &Content::from);
  m.def("all_collectives", [] { return std::vector(std::begin(all_collectives), std::end(all_collectives)); });
  m.def("facts", &facts, nb::arg("collective"), nb::rv_policy::reference);
  m.def(
      "collective_named",
      [](std::string_view name) {
        if (const auto collective = collective_named(name)) return *collective;
        throw Error("no collective is called '" + std::string(name) + "'", "use one of " + names_of_collectives());
      },
      nb::arg("name"), "Raises stretto.Error if there is none of that name.");
  m.def("content_before", &content_before, nb::arg("collective"), nb::arg("shape"), nb::arg("rank"), nb::arg("buffer"),
        nb::arg("block"), "The precondition of one slot.");
  m.def("content_after", &content_after, nb::arg("collective"), nb::arg("shape"), nb::arg("rank"), nb::arg("block"),
        "The postcondition of one slot of the output; nothing: no demand.");
  m.def("may_alias", &may_alias, nb::arg("collective"), "May a rank's input be its output (MPI_IN_PLACE)?");
}

}  // namespace stretto::python

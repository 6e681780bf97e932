// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/collective.hpp"

#include "algorithms/patterns/nodes.hpp"
#include "register.hpp"

namespace stretto::python {

namespace {

Shape checked_shape(Rank ranks, Rank root, std::vector<Count> counts, std::vector<Rank> nodes,
                    const std::string& graph) {
  if (ranks < 1) throw Error("there is no collective of " + std::to_string(ranks) + " ranks", "use 1 rank or more");
  if (root < 0 || root >= ranks) {
    throw Error("root " + std::to_string(root) + " is not one of the " + std::to_string(ranks) + " ranks",
                "ranks count from 0 to " + std::to_string(ranks - 1));
  }
  if (!counts.empty() && counts.size() != static_cast<std::size_t>(ranks)) {
    throw Error("there are " + std::to_string(counts.size()) + " counts for " + std::to_string(ranks) + " ranks",
                "give one for each rank, or none");
  }
  for (const Count count : counts)
    if (count < 0) throw Error("a count is negative: " + std::to_string(count), "counts are numbers of elements");
  const std::string misfit = patterns::nodes_misfit({.ranks = ranks}, {.list = nodes});
  if (!misfit.empty()) throw Error(misfit, "give each rank's node, then for each further level its node's group");
  return {ranks, root, std::move(counts), std::move(nodes), graph.empty() ? nullptr : parse_graph(graph, ranks)};
}

void require_slot(const Shape& shape, const Parts& parts, Rank rank, Block slot) {
  if (rank < 0 || rank >= shape.ranks) throw Error("there is no rank " + std::to_string(rank), "ranks count from 0");
  if (!parts.first.empty() && parts.first.size() != static_cast<std::size_t>(shape.ranks) + 1)
    throw Error("the parts are not those of " + std::to_string(shape.ranks) + " ranks", "use Schedule.parts");
  if (slot < 0) throw Error("a slot is negative: " + std::to_string(slot), "slots count from 0");
}

std::string names_of_collectives() {
  std::string names;
  for (const Collective collective : all_collectives) {
    names += (names.empty() ? "" : ", ") + std::string(facts(collective).name);
  }
  return names;
}

void register_facts(nb::module_& m) {
  auto values = nb::enum_<Collective>(m, "Collective", "What is to be achieved, whatever the sizes of the blocks.");
  for (const Collective collective : all_collectives) values.value(facts(collective).name.data(), collective);
  nb::class_<CollectiveFacts>(m, "CollectiveFacts", "What holds of a collective whatever the algorithm.")
      .def_ro("name", &CollectiveFacts::name)
      .def_ro("rooted", &CollectiveFacts::rooted)
      .def_ro("reduces", &CollectiveFacts::reduces)
      .def_ro("per_rank", &CollectiveFacts::per_rank, "The vector has a part for each rank, given by the call.")
      .def_ro("pairwise", &CollectiveFacts::pairwise, "A block belongs to a pair of ranks, as in an alltoall.")
      .def_ro("neighbourhood", &CollectiveFacts::neighbourhood, "Its parts are those of neighbours in a graph.")
      .def_ro("prefix", &CollectiveFacts::prefix, "A rank's result is made of what the ranks up to it gave.");
  m.def("all_collectives", [] { return std::vector(std::begin(all_collectives), std::end(all_collectives)); });
  m.def("facts", nb::overload_cast<Collective>(&facts), nb::arg("collective"), nb::rv_policy::reference);
  m.def(
      "collective_named",
      [](std::string_view name) {
        if (const auto collective = collective_named(name)) return *collective;
        throw Error("no collective is called '" + std::string(name) + "'", "use one of " + names_of_collectives());
      },
      nb::arg("name"), "Raises stretto.Error if there is none of that name.");
}

void register_shape(nb::module_& m) {
  nb::class_<Shape>(m, "Shape", "Ranks and root of a call; the sizes of the ranks' parts, and where the ranks are.")
      .def(
          "__init__",
          [](Shape* self, Rank ranks, Rank root, std::vector<Count> counts, std::vector<Rank> nodes,
             const std::string& graph) {
            new (self) Shape(checked_shape(ranks, root, std::move(counts), std::move(nodes), graph));
          },
          nb::arg("ranks"), nb::arg("root") = 0, nb::arg("counts") = std::vector<Count>(),
          nb::arg("nodes") = std::vector<Rank>(), nb::arg("graph") = "")
      .def_ro("ranks", &Shape::ranks)
      .def_ro("root", &Shape::root)
      .def_ro("counts", &Shape::counts,
              "Of each rank's part: elements, bytes where nothing is combined; empty: not given.")
      .def_ro("nodes", &Shape::nodes,
              "Levels x ranks: the node of each rank; then, for each further level, the group of each rank's node; "
              "empty: unknown.")
      .def_prop_ro(
          "graph", [](const Shape& s) { return graph_of(s)->name(); },
          "Of a neighbourhood collective: torus=4x4, grid=4x4, stencil=4x4 or random=3.")
      .def("__eq__", [](const Shape& a, const Shape& b) { return a == b; }, nb::is_operator());
  nb::class_<Content> content(m, "Content", "What stands in one slot before or after a collective.");
  nb::enum_<Content::Kind>(content, "Kind")
      .value("nothing", Content::Kind::nothing)
      .value("contribution", Content::Kind::contribution)
      .value("reduction", Content::Kind::reduction);
  content.def_ro("kind", &Content::kind)
      .def_ro("from_rank", &Content::from, "Of a contribution; the first rank of a reduction.")
      .def_ro("to_rank", &Content::to, "The last rank of a reduction.");
}

void register_slots(nb::module_& m) {
  m.def(
      "block_of",
      [](Collective collective, const Shape& shape, Rank rank, Buffer buffer, Block slot) {
        require_slot(shape, {}, rank, slot);
        return block_of(collective, shape, rank, buffer, slot);
      },
      nb::arg("collective"), nb::arg("shape"), nb::arg("rank"), nb::arg("buffer"), nb::arg("slot"),
      "Which block a slot of the input or output holds: slot b block b, but for alltoall.");
  m.def(
      "content_after",
      [](Collective collective, const Shape& shape, const Parts& parts, Rank rank, Block slot) {
        require_slot(shape, parts, rank, slot);
        return content_after(collective, shape, parts, rank, slot);
      },
      nb::arg("collective"), nb::arg("shape"), nb::arg("parts"), nb::arg("rank"), nb::arg("slot"),
      "The postcondition of one slot of the output; nothing: no demand.");
  m.def("may_alias", &may_alias, nb::arg("collective"), "May a rank's input be its output (MPI_IN_PLACE)?");
}

}  // namespace

void register_collective(nb::module_& m) {
  register_facts(m);
  register_shape(m);
  register_slots(m);
}

}  // namespace stretto::python

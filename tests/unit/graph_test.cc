// SPDX-License-Identifier: BSD-3-Clause
//
// Graphs of neighbourhoods, and the algorithms on them.
#include <set>
#include <string>

#include "collectives/stencil.hpp"
#include "stretto/check.hpp"
#include "stretto/error.hpp"
#include "support/test.hpp"

namespace stretto::graph_test {
namespace {

/// "0.1 2.0": of each part that `rank` receives, its sender and that one's part; "-" where there is none.
std::string sources(const Graph& graph, Rank rank) {
  std::string text;
  for (std::size_t i = 0; i < graph.of(rank).sources.size(); ++i) {
    const Graph::Part part = graph.source(rank, static_cast<Block>(i));
    text += text.empty() ? "" : " ";
    text += part.rank == no_rank ? "-" : std::to_string(part.rank) + '.' + std::to_string(part.slot);
  }
  return text;
}

TEST(repeated_neighbours_are_matched_in_order) {
  const Graph graph(std::vector<Neighbours>{{{1, 1, 0}, {1, 0, 1}}, {{0, 0}, {0, 0}}});
  CHECK_EQ(graph.misfit(), "");
  CHECK_EQ(sources(graph, 0), "1.0 1.1 0.1");
  CHECK_EQ(sources(graph, 1), "0.0 0.2");
  CHECK(graph.whole() && graph.connected());
  CHECK_EQ(graph.slots(), 3);
}

TEST(what_a_grid_sends_one_way_arrives_from_the_other) {
  const Graph two(Grid{{2, 1}, {true, true}});
  CHECK_EQ(sources(two, 0), "1.1 1.0 0.3 0.2");  // both neighbours are the other rank, or oneself
  const Graph line(Grid{{3}, {false}});
  CHECK_EQ(sources(line, 0), "- 1.0");
  CHECK_EQ(sources(line, 1), "0.1 2.0");
  CHECK_EQ(line.arrivals(0).size(), 1);
}

TEST(graphs_that_do_not_match_are_found) {
  CHECK_EQ(Graph(std::vector<Neighbours>{{{}, {1}}, {{}, {}}}).misfit(),
           "the sources of rank 1 are not the ranks that have it as destination");
  const Graph odd(std::vector<Neighbours>{{{1}, {1}}, {{0, 0}, {0}}});
  CHECK(!odd.misfit().empty());
  const Shape shape{.ranks = 2, .graph = std::make_shared<const Graph>(odd)};
  const Checked checked = check(*find_algorithm("neighbor_alltoall/direct"), shape);
  CHECK(checked.refused && checked.refused->why == Refusal::malformed);
}

TEST(a_rank_may_know_its_own_neighbours_alone) {
  const Shape shape{.ranks = 4, .graph = std::make_shared<const Graph>(4, 2, Neighbours{{2, 0}, {2, 3, 3}})};
  CHECK(!shape.graph->whole());
  const Schedule direct = build_schedule(*find_algorithm("neighbor_alltoall/direct"), shape, 2);
  CHECK_EQ(direct.sends.size(), 2);
  CHECK_EQ(direct.actions.size(), 2);
  for (const char* id : {"neighbor_alltoall/grid", "neighbor_alltoall/two_step", "neighbor_allgather/three_step"})
    CHECK_EQ(unsuitable(*find_algorithm(id), shape), "not all ranks know the neighbours of all");
}

TEST(parts_for_neighbours_are_not_cut) {
  CHECK_EQ(unsuitable(*find_algorithm("neighbor_alltoall/direct"), {8}, {.segment = 4096}),
           "parts for neighbours are not cut");
}

std::string refusal(const std::string& text) {
  try {
    (void)parse_graph(text, 12);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(texts_of_graphs) {
  CHECK_EQ(parse_graph("stencil=3x4", 12)->of(0).destinations.size(), 8);
  CHECK_EQ(parse_graph("torus=3x2x2", 12)->of(0).destinations.size(), 6);
  CHECK_EQ(parse_graph("random=3", 12)->name(), "random=3");
  CHECK_EQ(refusal("torus"), "graph 'torus': it has no '='");
  CHECK_EQ(refusal("ring=12"), "graph 'ring=12': there is no kind 'ring'");
  CHECK_EQ(refusal("grid=3x5"), "graph 'grid=3x5': it does not have 12 ranks");
  CHECK_EQ(refusal("grid=3x"), "graph 'grid=3x': '' is not a number of at least 1");
  CHECK_EQ(refusal("stencil=12x1x1x1x1x1x1x1x1x1x1"), "graph 'stencil=12x1x1x1x1x1x1x1x1x1x1': at most 10 dimensions");
  CHECK_EQ(refusal("random=0"), "graph 'random=0': '0' is not a number of at least 1");
}

std::size_t messages(const char* id, const Shape& shape, Rank rank) {
  return build_schedule(*find_algorithm(id), shape, rank).sends.size();
}

TEST(stencils_are_recognized_and_take_two_messages_for_each_dimension) {
  const Shape shape{.ranks = 60, .graph = std::make_shared<const Graph>(stencil({3, 5, 4}))};
  CHECK(shape.graph->dims() == (std::vector<Rank>{3, 5, 4}));
  for (Rank r = 0; r < 60; ++r) {
    CHECK_EQ(messages("neighbor_alltoall/direct", shape, r), 26);
    CHECK_EQ(messages("neighbor_alltoall/grid", shape, r), 6);
    CHECK_EQ(messages("neighbor_allgather/grid", shape, r), 6);
  }
}

TEST(nodes_exchange_few_messages) {
  // Two nodes of four ranks, all with all others as neighbours.
  std::vector<Neighbours> all(8);
  for (Rank r = 0; r < 8; ++r)
    for (Rank other = 0; other < 8; ++other)
      if (other != r) {
        all[static_cast<std::size_t>(r)].sources.push_back(other);
        all[static_cast<std::size_t>(r)].destinations.push_back(other);
      }
  const Shape shape{
      .ranks = 8, .nodes = {0, 0, 0, 0, 1, 1, 1, 1}, .graph = std::make_shared<const Graph>(std::move(all))};
  const auto between = [&](const char* id) {
    std::size_t count = 0;
    for (Rank r = 0; r < 8; ++r)
      for (const Send& send : build_schedule(*find_algorithm(id), shape, r).sends)
        count += (send.peer < 4) != (r < 4) ? 1 : 0;
    return count;
  };
  CHECK_EQ(between("neighbor_alltoall/direct"), 32);
  CHECK_EQ(between("neighbor_alltoall/two_step"), 8);
  CHECK_EQ(between("neighbor_alltoall/three_step"), 2);
  CHECK_EQ(between("neighbor_allgather/two_step"), 8);
  CHECK_EQ(between("neighbor_allgather/three_step"), 2);
}

/// Calls `each(dims)` for all ways to write `ranks` as a product of numbers above 1, in falling and in rising order,
/// and once with ones among them.
template <typename Each>
void for_each_grid(Rank ranks, Each each) {
  each(std::vector<Rank>{1, ranks, 1});
  std::vector<Rank> dims;
  const auto split = [&](const auto& self, Rank rest, Rank most) -> void {
    if (rest == 1) {
      each(dims);
      const std::vector<Rank> rising(dims.rbegin(), dims.rend());
      if (rising != dims) each(rising);
      return;
    }
    for (Rank a = std::min(rest, most); a > 1; --a) {
      if (rest % a != 0) continue;
      dims.push_back(a);
      self(self, rest / a, a);
      dims.pop_back();
    }
  };
  if (ranks > 1) split(split, ranks, ranks);
}

TEST(all_grids_are_proved) {
#ifdef __SANITIZE_ADDRESS__
  constexpr Rank most = 20;
#else
  constexpr Rank most = 64;
#endif
  std::size_t proved = 0;
  const std::set<Rank> among_many = {27, 30, 32, 36, 48, 60, 64};  // where one case in so many is tried
  for (Rank ranks = 1; ranks <= most; ++ranks) {
    const bool many = test::one_in() > 1 && ranks > 24;
    if (many && !among_many.contains(ranks)) continue;
    for_each_grid(ranks, [&](const std::vector<Rank>& dims) {
      const unsigned all = (1u << dims.size()) - 1;
      for (unsigned periods = 0; periods <= all; ++periods) {
        if (many && periods != 0 && periods != all && (periods + proved) % test::one_in() != 0) continue;
        Grid grid{dims, {}};
        for (std::size_t d = 0; d < dims.size(); ++d) grid.periodic.push_back((periods >> d & 1) != 0);
        const Shape shape{.ranks = ranks, .graph = std::make_shared<const Graph>(grid)};
        for (const Algorithm* a : all_algorithms()) {
          if (!facts(a->collective).neighbourhood) continue;
          const Checked checked = check(*a, shape);
          CHECK_EQ(checked.refused ? std::string(a->id) + ": " + checked.refused->message : "", "");
          ++proved;
        }
      }
    });
  }
  CHECK(proved > 1000);
}

TEST(random_graphs_are_proved) {
  std::size_t proved = 0;
  for (const Rank ranks : {1, 2, 3, 5, 8, 13, 24})
    for (const int degree : {1, 2, 4, 8, 16}) {
      const Shape shape{.ranks = ranks, .graph = parse_graph("random=" + std::to_string(degree), ranks)};
      for (const Algorithm* a : all_algorithms()) {
        if (!facts(a->collective).neighbourhood) continue;
        const Checked checked = check(*a, shape);
        CHECK_EQ(checked.refused ? std::string(a->id) + ": " + checked.refused->message : "", "");
        ++proved;
      }
    }
  CHECK_EQ(proved, 7 * 5 * 8);
}

}  // namespace
}  // namespace stretto::graph_test

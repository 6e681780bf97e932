// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/topology.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <set>

#include "stretto/check.hpp"
#include "stretto/error.hpp"
#include "support/test.hpp"

namespace stretto::topology_test {
namespace {

using Random = std::mt19937;

int below(Random& random, int n) { return static_cast<int>(random() % static_cast<std::uint32_t>(n)); }

/// Switches hung on each other at random, machines on them, and ranks on the machines in no order.
Topology random_tree(Random& random) {
  const int switches = 1 + below(random, 8);
  std::vector<Vertex> vertices;
  for (int s = 0; s < switches; ++s)
    vertices.push_back({"s" + std::to_string(s), s == 0 ? -1 : below(random, s), false, 1e6, 1e-6});
  const int machines = 1 + below(random, 12);
  for (int m = 0; m < machines; ++m)
    vertices.push_back({"n" + std::to_string(m), below(random, switches), true, 1e6, 1e-6});
  const int ranks = 1 + below(random, 14);
  std::vector<int> machine_of_rank;
  for (int r = 0; r < ranks; ++r) machine_of_rank.push_back(switches + below(random, machines));
  return Topology(std::move(vertices), std::move(machine_of_rank));
}

std::vector<Schedule> schedules_of(const char* id, const Shape& shape, const Params& params = {}) {
  std::vector<Schedule> schedules;
  for (Rank r = 0; r < shape.ranks; ++r) schedules.push_back(build_schedule(*find_algorithm(id), shape, r, params));
  return schedules;
}

Traffic traffic_of(const Topology& tree, const char* id, const Shape& shape, const Params& params = {}) {
  return traffic(tree, transfers(schedules_of(id, shape, params)));
}

std::string message_of(std::vector<Vertex> vertices, std::vector<int> machines) {
  try {
    const Topology tree(std::move(vertices), std::move(machines));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// s0 with n0 n1 and s1, which has n2 n3; one rank each, rank r on n(place[r]).
Topology two_switches(const std::vector<int>& place, double trunk = 1e6) {
  std::vector<Vertex> v{{"s0"}, {"s1", 0, false, trunk, 1e-6}};
  for (int m = 0; m < 4; ++m) v.push_back({"n" + std::to_string(m), m / 2, true, 1e6, 1e-6});
  std::vector<int> machines;
  for (const int m : place) machines.push_back(2 + m);
  return Topology(std::move(v), std::move(machines));
}

bool about(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

}  // namespace

TEST(the_ring_names_every_rank_once_and_keeps_consecutive_ranks) {
  CHECK(two_switches({0, 1, 2, 3}).ring() == (std::vector<Rank>{0, 1, 2, 3}));
  CHECK(two_switches({0, 2, 1, 3}).ring() == (std::vector<Rank>{0, 1, 3, 2}));
  CHECK(two_switches({2, 0, 3, 1}).ring() == (std::vector<Rank>{0, 2, 1, 3}));
  const std::vector<int> nodes{7, 7, 7, 3, 3, 3};
  CHECK(two_levels(nodes).ring() == (std::vector<Rank>{0, 1, 2, 3, 4, 5}));
  const std::vector<int> cyclic{0, 1, 0, 1};
  CHECK(two_levels(cyclic).ring() == (std::vector<Rank>{0, 2, 1, 3}));
}

TEST(trees_that_are_none_are_refused) {
  CHECK_EQ(message_of({{"s0", 1}, {"s1", 0}}, {}), "topology: no switch is on top");
  CHECK_EQ(message_of({{"top"}, {"s0", 2}, {"s1", 1}}, {}), "topology: a cycle goes through s1");
  CHECK_EQ(message_of({{"a"}, {"b"}}, {}), "topology: both a and b are on top");
  CHECK_EQ(message_of({{"a"}}, {0}), "topology: a rank is on no machine");
  CHECK_EQ(message_of({{"a"}, {"n", 0, true}}, {1, 2}), "topology: a rank is on no machine");
  CHECK_EQ(message_of({{"n", -1, true}, {"m", 0, true}}, {}), "topology: m hangs on a machine");
  CHECK_EQ(message_of({{"a", 4}}, {}), "topology: a hangs on a vertex that is not there");
  CHECK_EQ(message_of({{"a", -1, false, -1.0}}, {}), "topology: the bandwidth of a is no number");
  CHECK_EQ(message_of({{"a", -1, false, 1.0, NAN}}, {}), "topology: the latency of a is no time");
  CHECK_EQ(message_of({}, {}), "topology: no switch is on top");
}

TEST(paths_go_up_to_the_common_switch_and_down) {
  const Topology tree = two_switches({0, 1, 2, 3});
  std::vector<std::size_t> path;
  std::set<std::string> names;
  tree.path(0, 3, path);
  for (const std::size_t w : path) names.insert(tree.name_of(w));
  CHECK(names == (std::set<std::string>{"n0 to s0", "s0 to s1", "s1 to n3"}));
  CHECK(about(tree.latency(0, 3), 3e-6));
  tree.path(2, 2, path);
  CHECK(path.empty());
  const std::vector<int> nodes{0, 0, 1};
  const Topology pairs = two_levels(nodes);
  pairs.path(0, 1, path);
  CHECK_EQ(path.size(), 2);  // the ranks' own links
  CHECK_EQ(pairs.name_of(path[0]), "rank 0 to node0");
  pairs.path(2, 0, path);
  CHECK_EQ(path.size(), 3);  // rank 2 is alone: the machine's link is its own
}

TEST(messages_that_share_a_link_are_found) {
  const Topology tree = two_switches({0, 2, 1, 3});
  const std::vector<Transfer> all = transfers(schedules_of("allreduce/ring", {.ranks = 4}));
  CHECK_EQ(all.size(), 24);
  const Traffic t = traffic(tree, all);
  CHECK(!t.contention_free());
  CHECK_EQ(t.steps.size(), 6);
  CHECK_EQ(t.steps[0].most, 2);
  CHECK_EQ(t.steps[0].shared, 2);
  CHECK_EQ(tree.name_of(t.steps[0].where), "s1 to s0");
  const std::vector<Transfer> two = sharing(tree, all, 1, t.steps[0].where);
  CHECK_EQ(two.size(), 2);
  CHECK(two[0].from + two[1].from == 1 + 3);
  CHECK(traffic_of(tree, "allreduce/logical_ring", {.ranks = 4}, {.list = tree.ring()}).contention_free());
  const Traffic star = traffic_of(tree, "bcast/linear", {.ranks = 4});
  CHECK_EQ(star.steps[0].most, 3);
  CHECK_EQ(tree.name_of(star.steps[0].where), "n0 to s0");
}

TEST(schedules_that_hang_are_refused) {
  std::vector<Schedule> schedules = schedules_of("allgather/ring", {.ranks = 3});
  schedules[1].sends.back().peer = 0;
  std::string what;
  try {
    transfers(schedules);
  } catch (const Error& error) {
    what = error.what();
  }
  CHECK_EQ(what, "rank 1, round 3: sends a message that rank 0 never receives");
}

TEST(steps_are_those_of_the_checker) {
  for (const Algorithm* a : all_algorithms())
    for (const Rank ranks : {2, 5, 8}) {
      Shape shape{.ranks = ranks};
      if (a->needs.counts) shape.counts.assign(static_cast<std::size_t>(ranks), 3);
      if (!unsuitable(*a, shape).empty()) continue;
      const std::vector<Transfer> all = transfers(schedules_of(a->id.data(), shape));
      const Checked checked = check(*a, shape);
      CHECK_EQ(static_cast<std::int64_t>(all.size()), checked.measured.messages);
      CHECK_EQ(all.empty() ? 0 : all.back().step, checked.measured.rounds);
    }
}

// Lemma 4 of Patarasuk and Yuan, for whole schedules: in no round do two messages share a link.
TEST(rings_and_chains_in_depth_first_order_are_contention_free_on_random_trees) {
#ifdef __SANITIZE_ADDRESS__
  constexpr int all = 600;
#else
  constexpr int all = 12'000;
#endif
  const int trees = all / static_cast<int>(test::one_in());
  Random random(1);
  int rank_order_contends = 0;
  const char* const ids[] = {"allreduce/logical_ring",   "allgather/logical_ring", "reduce_scatter/logical_ring",
                             "allgather/pipelined_ring", "bcast/logical_chain",    "reduce/logical_chain"};
  for (int i = 0; i < trees; ++i) {
    const Topology tree = random_tree(random);
    const Rank p = tree.ranks();
    for (const char* id : ids) {
      Shape shape{.ranks = p};
      if (find_algorithm(id)->needs.counts)
        for (Rank r = 0; r < p; ++r) shape.counts.push_back(below(random, 4));
      if (facts(find_algorithm(id)->collective).rooted) shape.root = below(random, p);
      if (!traffic_of(tree, id, shape, {.value = shape.counts.empty() ? 0 : 1, .list = tree.ring()}).contention_free())
        return CHECK_EQ(std::string("contention"), id);
    }
    rank_order_contends += traffic_of(tree, "allreduce/ring", {.ranks = p}).contention_free() ? 0 : 1;
  }
  CHECK(rank_order_contends > trees / 2);  // else the trees would show nothing
}

// Every switch is a level: ranks that hang higher are alone on those below.
std::vector<Rank> levels_of(const Topology& tree) {
  std::vector<std::vector<int>> ways;  // from the top to each rank's machine
  std::size_t deepest = 0;
  for (Rank r = 0; r < tree.ranks(); ++r) {
    std::vector<int> way;
    for (int v = tree.machine_of(r); v >= 0; v = tree.vertices()[static_cast<std::size_t>(v)].above)
      way.insert(way.begin(), v);
    deepest = std::max(deepest, way.size());
    ways.push_back(std::move(way));
  }
  std::vector<Rank> list;
  for (std::size_t level = deepest; level-- > 1;)
    for (Rank r = 0; r < tree.ranks(); ++r) {
      const std::vector<int>& way = ways[static_cast<std::size_t>(r)];
      list.push_back(level < way.size() ? way[level] : static_cast<int>(tree.vertices().size()) + r);
    }
  return list;
}

// Faraj and Yuan (2005): as few phases as the busiest link allows, and in none of them do two messages share a link.
TEST(contention_free_alltoall_on_random_trees) {
#ifdef __SANITIZE_ADDRESS__
  constexpr int all = 150;
#else
  constexpr int all = 2'000;
#endif
  const int trees = all / static_cast<int>(test::one_in());
  Random random(4);
  const Algorithm& alltoall = *find_algorithm("alltoall/contention_free");
  int pairwise_contends = 0;
  int deep = 0;
  for (int i = 0; i < trees; ++i) {
    const Topology tree = random_tree(random);
    const Shape shape{.ranks = tree.ranks()};
    const Params params{.list = levels_of(tree)};
    if (const std::string why = unsuitable(alltoall, shape, params); !why.empty()) return CHECK_EQ(why, "");
    const Traffic t = traffic_of(tree, alltoall.id.data(), shape, params);
    if (!t.contention_free()) return CHECK_EQ(std::string("contention"), "");
    const auto busiest = t.blocks.empty() ? 0 : *std::ranges::max_element(t.blocks);
    const auto phases = static_cast<std::int64_t>(t.steps.size());
    CHECK_EQ(busiest, phases);  // in every phase the busiest link carries a block
    CHECK_EQ(alltoall.rounds(shape, resolved(alltoall, shape, params)), phases);
    pairwise_contends += traffic_of(tree, "alltoall/pairwise", shape).contention_free() ? 0 : 1;
    deep += params.list.size() > 2 * static_cast<std::size_t>(shape.ranks) ? 1 : 0;
  }
  CHECK(pairwise_contends > trees / 3 && deep > trees / 3);  // else the trees would show nothing
}

TEST(rings_that_know_the_nodes_are_contention_free) {
  Random random(3);
  const Algorithm& ring = *find_algorithm("allgather/pipelined_ring");
  for (int i = 0; i < 500; ++i) {
    Shape shape{.ranks = 2 + below(random, 20)};
    const Rank nodes = 2 + below(random, 6);
    for (Rank r = 0; r < shape.ranks; ++r) {
      shape.counts.push_back(below(random, 4));
      shape.nodes.push_back(below(random, nodes));
    }
    const Checked checked = check(ring, shape, {.value = 1, .list = {}});
    if (checked.refused) return CHECK_EQ(checked.refused->message, "");
    const Topology tree = two_levels(shape.nodes);
    CHECK(traffic_of(tree, "allgather/pipelined_ring", shape, {.value = 1, .list = {}}).contention_free());
    shape.counts.clear();
    for (const char* id : {"allreduce/logical_ring", "allgather/logical_ring", "bcast/logical_chain"})
      CHECK(traffic_of(tree, id, shape).contention_free());
  }
}

TEST(no_algorithm_beats_the_bound) {
  Random random(2);
  for (int i = 0; i < 150; ++i) {
    const Topology tree = random_tree(random);
    for (const Algorithm* a : all_algorithms()) {
      Shape shape{.ranks = tree.ranks()};
      if (facts(a->collective).rooted) shape.root = below(random, tree.ranks());
      if (a->needs.counts || !unsuitable(*a, shape).empty()) continue;
      const Traffic t = traffic_of(tree, a->id.data(), shape);
      const Bytes bytes = 1000 * (1 + below(random, 1000));
      const double seconds = time_on_tree(t, a->blocks(shape, resolved(*a, shape, {})), bytes).seconds;
      const Bound bound = lower_bound(tree, a->collective, shape.root, bytes);
      if (seconds < bound.seconds * (1 - 1e-9)) {
        CHECK_EQ(std::string(a->id), bound.reason);
        std::printf("%.9g %.9g on %d ranks\n", seconds, bound.seconds, tree.ranks());
      }
    }
  }
}

TEST(bounds_of_the_papers) {
  const Topology even = two_switches({0, 2, 1, 3});
  constexpr Bytes m = 1'000'000'000;  // latency does not matter
  const auto seconds = [&](Collective c, Rank root = 0) { return lower_bound(even, c, root, m).seconds; };
  CHECK(about(seconds(Collective::allreduce), 2 * 3.0 / 4 * 1000));  // Lemma 3
  CHECK(about(seconds(Collective::bcast), 1000));
  CHECK(about(seconds(Collective::reduce, 3), 1000));
  CHECK(about(seconds(Collective::allgather), 750));
  CHECK(about(seconds(Collective::reduce_scatter), 750));
  CHECK(about(seconds(Collective::gather, 2), 750));
  CHECK(about(seconds(Collective::scatter), 750));
  CHECK(about(seconds(Collective::alltoall), 1000));  // 2·2 parts of a quarter through the trunk
  CHECK(about(seconds(Collective::scan), 1000));
  CHECK(about(seconds(Collective::barrier), 3e-6));
  CHECK_EQ(lower_bound(even, Collective::barrier, 0, 0).reason, "latency from rank 0 to rank 1");
  CHECK_EQ(lower_bound(even, Collective::bcast, 0, m).reason, "what must go from s0 to s1");
}

TEST(a_slow_trunk_raises_the_bound_of_allreduce) {
  constexpr Bytes m = 1'000'000'000;
  const Topology slow = two_switches({0, 1, 2, 3}, 1e5);
  const Bound bound = lower_bound(slow, Collective::allreduce, 0, m);
  CHECK(about(bound.seconds, 10'000));
  CHECK_EQ(bound.reason, "what must go from s1 to s0");
  // Three machines on fast links, two behind slow ones: four groups of five are worse than one link alone.
  std::vector<Vertex> v{{"s0"}};
  for (int i = 0; i < 5; ++i) v.push_back({"n" + std::to_string(i), 0, true, i < 3 ? 1e7 : 1e6, 0});
  const Bound mixed = lower_bound(Topology(v, {1, 2, 3, 4, 5}), Collective::allreduce, 0, m);
  CHECK(about(mixed.seconds, 1000));
  // All five machines together: 8 vectors through 5 links.
  for (int i = 1; i <= 5; ++i) v[static_cast<std::size_t>(i)].bandwidth = 1e6;
  const Bound alike = lower_bound(Topology(v, {1, 2, 3, 4, 5}), Collective::allreduce, 0, m);
  CHECK(about(alike.seconds, 1600));
  CHECK_EQ(alike.reason, "2(g-1) vectors through the links of g = 5 parts of the tree");
}

TEST(the_ring_in_order_takes_what_the_bound_says) {
  const Topology tree = two_switches({0, 2, 1, 3});
  constexpr Bytes m = 1'000'000'000;
  const Traffic t = traffic_of(tree, "allreduce/logical_ring", {.ranks = 4}, {.list = tree.ring()});
  const double bound = lower_bound(tree, Collective::allreduce, 0, m).seconds;
  CHECK(std::abs(time_on_tree(t, 4, m).seconds / bound - 1) < 1e-6);
  const Traffic chain = traffic_of(tree, "bcast/logical_chain", {.ranks = 4, .root = 2}, {.list = tree.ring()});
  const TreeTime pipelined = time_on_tree(chain, 1, m);
  CHECK(pipelined.segments > 64);
  CHECK(pipelined.seconds < 1.01 * lower_bound(tree, Collective::bcast, 2, m).seconds);
}

}  // namespace stretto::topology_test

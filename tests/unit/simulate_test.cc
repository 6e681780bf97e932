// SPDX-License-Identifier: BSD-3-Clause
//
// The simulator: against the closed formulas for all algorithms, and what goes beyond α, β and γ on small cases.
#include <array>
#include <cmath>
#include <ctime>
#include <map>

#include "simulate/shared.hpp"
#include "stretto/error.hpp"
#include "stretto/simulate.hpp"
#include "stretto/variants.hpp"
#include "support/test.hpp"

namespace stretto::simulate_test {
namespace {

Machine flat(double alpha, double beta, double gamma) {
  Machine m;
  m.network = m.node = {.alpha = alpha, .beta = beta};
  m.gamma = gamma;
  return m;
}

double time_of(const char* id, Rank ranks, const Load& load, const Machine& m, Placement k = {}) {
  return Simulator(*find_algorithm(id), {ranks, 0, {}}, {}, k).run(load, m).seconds;
}

/// Whole numbers: sums of them are exact in any order.
const std::array<Machine, 3> whole{flat(1, 1, 1), flat(1000, 1, 10), flat(1, 1000, 30)};

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(a, b); }

void check_parts(const Prediction& p) { CHECK(near(p.latency + p.bandwidth + p.reduction + p.waiting, p.seconds)); }

#if defined(__SANITIZE_ADDRESS__)
constexpr Rank step = 7;  // it takes ten times as long
constexpr Rank many_ranks = 1 << 12;
#else
const Rank step = test::one_in() > 1 ? 7 : 1;
const Rank many_ranks = test::one_in() > 1 ? 1 << 15 : 1 << 16;
#endif

TEST(every_algorithm_takes_what_its_formula_says) {
  int compared = 0;
  std::map<std::string_view, int> below;
  for (const Algorithm* a : all_algorithms())
    for (Rank p = 1; p <= 70; p += p < 9 ? 1 : step)
      for (const Variant& v : variants(*a, p, facts(a->collective).rooted ? p / 3 : 0)) {
        if (!v.shape.counts.empty()) continue;
        const Shape shape = placed(*a, v.shape, v.params, {});
        const Params params = resolved(*a, shape, v.params);
        const bool bound = a->at_most && a->at_most(shape, params);
        const Simulator all(*a, v.shape, v.params, {}, true);
        const Simulator some(*a, v.shape, v.params);
        const Load load{.bytes = a->blocks(shape, params)};
        for (const Machine& m : whole) {
          const Prediction found = all.run(load, m);
          const double wanted = formula(*a, v.shape, v.params, load, m).seconds;
          check_parts(found);
          CHECK_EQ(some.run(load, m).seconds, found.seconds);
          if (bound)
            CHECK(found.seconds <= wanted);
          else if (chains_differ(*a) && found.seconds < wanted)
            ++below[a->id];
          else
            CHECK_EQ(std::string(a->id) + test::shown(found.seconds), std::string(a->id) + test::shown(wanted));
          ++compared;
        }
      }
  CHECK(compared > 20000 / step);
  for (const Algorithm* a : all_algorithms()) CHECK_EQ(chains_differ(*a) != nullptr, below[a->id] > 0);
}

TEST(many_ranks_are_one_where_all_do_the_same) {
  const auto simulated = [](const char* id, Rank p, Placement k = {}) {
    return Simulator(*find_algorithm(id), {p, 0, {}}, {}, k).simulated_ranks();
  };
  CHECK_EQ(simulated("allreduce/ring", 1000), 1);
  CHECK_EQ(simulated("alltoall/linear", 1000), 1);
  CHECK_EQ(simulated("allreduce/recursive_doubling", 1024), 1);
  CHECK_EQ(simulated("allreduce/recursive_doubling", 1000), 1000);
  CHECK_EQ(simulated("allreduce/swing", 256), 2);
  CHECK_EQ(simulated("allreduce/ring", 1024, {16}), 16);
  CHECK_EQ(simulated("allreduce/halving_doubling", 1024, {16}), 16);
  CHECK_EQ(simulated("allreduce/ring", 1000, {16}), 1000);  // the last node has fewer ranks
  CHECK_EQ(simulated("bcast/binomial", 1000), 1000);
  CHECK_EQ(simulated("scan/linear", 100), 100);
}

/// All that a machine can have.
Machine full() {
  Machine m = flat(8, 0.25, 0.125);
  m.node = {.alpha = 1, .beta = 0.0625, .f_alpha = 0.5, .send_overhead = 0.5, .contention = {{1, 1}, {4, 2}}};
  m.network.message = {{0, 8}, {64, 24}, {64, 40}, {128, 60}};
  m.network.contention = {{1, 1}, {4, 4}};
  m.copy = 0.0625;
  m.cores = 2;
  m.wait = 1;
  return m;
}

TEST(representatives_stand_for_all_on_any_machine) {
  const Machine m = full();
  for (const char* id : {"allreduce/ring", "allreduce/circulant", "allreduce/halving_doubling", "alltoall/pairwise",
                         "allgather/bruck", "allreduce/swing", "alltoall/linear"})
    for (const Rank p : {40, 64}) {
      const Algorithm& a = *find_algorithm(id);
      const Shape shape{p, 0, {}};
      if (!unsuitable(a, shape).empty()) continue;
      for (const Load& load : {Load{.bytes = 4096}, Load{.bytes = 4096, .segment = 1024, .depth = 3}}) {
        const Simulator some(a, shape, {}, {4}), all(a, shape, {}, {4}, true);
        CHECK(near(some.run(load, m).seconds, all.run(load, m).seconds));
        check_parts(all.run(load, m));
      }
    }
}

TEST(two_levels) {
  Machine m = flat(100, 0, 0);
  m.node = {.alpha = 1};
  // Of the four rounds, two stay on nodes of four ranks; on nodes of 16 all do.
  CHECK_EQ(time_of("allreduce/recursive_doubling", 16, {.bytes = 8}, m, {4}), 202.0);
  CHECK_EQ(time_of("allreduce/recursive_doubling", 16, {.bytes = 8}, m, {16}), 4.0);
  CHECK_EQ(time_of("allreduce/recursive_doubling", 16, {.bytes = 8}, m), 400.0);
}

TEST(one_way_costs_less) {
  Machine m = flat(10, 2, 0);
  m.network.f_alpha = 0.5;
  m.network.f_beta = 0.75;
  CHECK_EQ(time_of("bcast/binomial", 2, {.bytes = 8}, m), 5.0 + 12);
  CHECK_EQ(time_of("allgather/linear", 2, {.bytes = 8}, m), 10.0 + 8);
}

TEST(steps_and_overheads) {
  Machine m = flat(0, 0, 0);
  m.network.message = {{0, 10}, {64, 20}, {64, 50}, {128, 60}};
  CHECK_EQ(time_of("bcast/binomial", 2, {.bytes = 64}, m), 20.0);
  CHECK_EQ(time_of("bcast/binomial", 2, {.bytes = 96}, m), 55.0);
  m = flat(10, 0, 0);
  m.network.send_overhead = 2;
  m.network.receive_overhead = 3;
  CHECK_EQ(time_of("bcast/linear", 5, {.bytes = 8}, m), 18.0);   // the root sends 4
  CHECK_EQ(time_of("gather/linear", 5, {.bytes = 8}, m), 22.0);  // and receives 4
}

TEST(messages_leave_in_turn) {
  Machine m = flat(1, 1, 0);
  const Load load{.bytes = 20};
  // The root sends a half to each of the others, which then exchange them.
  const Simulator slices(*find_algorithm("bcast/slices"), {3, 0, {}});
  CHECK_EQ(slices.run(load, m).seconds, 11.0 + 11);
  m.in_turn = true;
  CHECK_EQ(slices.run(load, m).seconds, 21.0 + 11);
  check_parts(slices.run(load, m));
}

TEST(ranks_of_a_node_share_its_card) {
  Machine m = flat(0, 1, 0);
  m.network.contention = {{1, 1}, {2, 2}};
  // Four ranks on two nodes: in the second round both ranks of each node use the network.
  CHECK_EQ(time_of("allreduce/recursive_doubling", 4, {.bytes = 8}, m, {2}), 8.0 + 16);
  const Prediction p =
      Simulator(*find_algorithm("allreduce/recursive_doubling"), {4, 0, {}}, {}, {2}).run({.bytes = 8}, m);
  CHECK_EQ(p.bandwidth, 16.0);
  CHECK_EQ(p.waiting, 8.0);
  m.network.send_overhead = 1;  // also of empty messages
  CHECK_EQ(time_of("barrier/dissemination", 4, {}, m, {1}), 1.0 + 1);
  CHECK_EQ(time_of("barrier/dissemination", 4, {}, m, {2}), 1.0 + 2);
}

TEST(who_comes_later_slows_who_is_there) {
  simulation::Shared wire([](double users) { return users; });
  wire.join(0, 7, 8);
  CHECK_EQ(wire.next_end(), 8.0);
  wire.join(4, 9, 8);
  CHECK_EQ(wire.next_end(), 12.0);
  CHECK_EQ(wire.leave(12), 7u);
  CHECK_EQ(wire.next_end(), 16.0);
  CHECK_EQ(wire.leave(16), 9u);
  CHECK(!wire.busy());
}

TEST(more_ranks_than_cores) {
  Machine m = flat(0, 0, 1);
  const Load load{.bytes = 8};
  CHECK_EQ(time_of("allreduce/recursive_doubling", 4, load, m, {4}), 16.0);
  m.cores = 2;
  CHECK_EQ(time_of("allreduce/recursive_doubling", 4, load, m, {4}), 32.0);
  m.wait = 5;  // two ranks for each core: once for each round with messages
  CHECK_EQ(time_of("allreduce/recursive_doubling", 4, load, m, {4}), 42.0);
  m.cores = 4;
  CHECK_EQ(time_of("allreduce/recursive_doubling", 4, load, m, {4}), 16.0);
}

TEST(segments_follow_each_other) {
  const Machine m = flat(2, 1, 0);
  // A chain passes on segment after segment: p - 1 steps for the first, one more for each further one.
  const Algorithm& chain = *find_algorithm("bcast/chain");
  const Simulator s(chain, {5, 0, {}});
  CHECK_EQ(s.run({.bytes = 64}, m).seconds, 4.0 * 66);
  // A rank that receives and then sends has two rounds for a segment; one segment in flight: they do not overlap.
  CHECK_EQ(s.run({.bytes = 64, .segment = 16, .depth = 1}, m).seconds, (4.0 + 3 * 2) * 18);
  // Two in flight: one is received while the other is sent, and α is hidden behind it.
  CHECK_EQ(s.run({.bytes = 64, .segment = 16, .depth = 4}, m).seconds, 4.0 * 18 + 3 * 16);
  CHECK_EQ(s.run({.bytes = 64, .segment = 64, .depth = 4}, m).seconds, 4.0 * 66);
  // The last segment is shorter.
  CHECK_EQ(s.run({.bytes = 64, .segment = 48, .depth = 2}, m).seconds, 4.0 * 50 + 16);
}

TEST(a_message_does_not_overtake_those_in_its_port) {
  const Machine m = flat(2, 1, 0);
  // The root sends four segments to 2, then four to 1: its port is the bottleneck, whoever else is free.
  const Simulator tree(*find_algorithm("bcast/binomial"), {3, 0, {}});
  CHECK_EQ(tree.run({.bytes = 64, .segment = 16, .depth = 4}, m).seconds, 2.0 + 8 * 16);
  const Prediction p = tree.run({.bytes = 64, .segment = 16, .depth = 4}, m);
  check_parts(p);
}

TEST(reductions_overlap_with_messages_of_other_segments) {
  const Machine m = flat(0, 1, 1);
  const Algorithm& a = *find_algorithm("allreduce/recursive_doubling");
  const Simulator s(a, {2, 0, {}});
  CHECK_EQ(s.run({.bytes = 64}, m).seconds, 128.0);
  CHECK_EQ(s.run({.bytes = 64, .segment = 32, .depth = 1}, m).seconds, 128.0);
  CHECK_EQ(s.run({.bytes = 64, .segment = 32, .depth = 2}, m).seconds, 96.0);
  CHECK_EQ(s.run({.bytes = 64, .segment = 16, .depth = 2}, m).seconds, 80.0);
  check_parts(s.run({.bytes = 64, .segment = 16, .depth = 2}, m));
}

TEST(parts_of_different_sizes) {
  const Machine m = flat(1, 1, 0);
  const Algorithm& a = *find_algorithm("gather/ordered_tree");
  const auto time = [&](std::vector<Count> counts) {
    const Shape shape{static_cast<Rank>(counts.size()), 0, std::move(counts)};
    return Simulator(a, shape).run({.bytes = 64}, m).seconds;
  };
  CHECK_EQ(time({64, 0}), 1.0);   // the root has all of it
  CHECK_EQ(time({0, 64}), 65.0);  // it has to come
  CHECK_EQ(time({16, 16, 16, 16}), 2 + 48.0);
}

TEST(neighbourhoods_have_no_parts_of_ranks) {
  const Machine m = flat(1, 1, 0);
  const Algorithm& a = *find_algorithm("neighbor_allgather/direct");
  const Shape alike{1000}, counted{1000, 0, std::vector<Count>(1000, 1)};
  CHECK_EQ(Simulator(a, counted).run({.bytes = 64}, m).seconds, Simulator(a, alike).run({.bytes = 64}, m).seconds);
}

TEST(prediction_is_the_formula_or_the_simulation) {
  const Algorithm& a = *find_algorithm("allreduce/ring");
  const Shape shape{6, 0, {}};
  const Machine plain = flat(1, 1, 1);
  CHECK_EQ(predict(a, shape, {}, 600, plain).seconds, formula(a, shape, {}, {.bytes = 600}, plain).seconds);
  const Params segments{.segment = 60, .depth = 4, .value = 0, .list = {}};
  const Load load{.bytes = 600, .segment = 60, .depth = 4};
  CHECK_EQ(predict(a, shape, segments, 600, plain).seconds, Simulator(a, shape).run(load, plain).seconds);
  CHECK(predict(a, shape, segments, 600, plain).seconds < predict(a, shape, {}, 600, plain).seconds);
}

TEST(sizes_that_not_all_ranks_know_are_found_first) {
  const Machine m = flat(1, 1, 0);
  const Rank p = 6;
  const auto time = [&](const std::string& id, Function function, Bytes bytes) {
    return Simulator(*find_algorithm(id), {p, 0}, {}, {}, false, function).run({.bytes = bytes}, m).seconds;
  };
  const double parts = time("gather/binomial", Function::gather, 600);
  CHECK_EQ(time("gather/linear", Function::gatherv, 600), time("gather/linear", Function::gather, 600));
  CHECK_EQ(time("gather/binomial", Function::gatherv, 600), parts + time("gather/binomial", Function::gather, 8 * p));
  CHECK_EQ(time("alltoall/padded_bruck", Function::alltoallv, 600),
           time("alltoall/padded_bruck", Function::alltoall, 600) +
               time("allreduce/recursive_doubling", Function::allreduce, 8));
}

TEST(trace_of_a_call) {
  Machine m = flat(1, 1, 1);
  m.copy = 1;
  const Simulator s(*find_algorithm("allreduce/ring"), {4, 0, {}});
  const double seconds = s.run({.bytes = 16}, m).seconds;
  const std::vector<TraceEvent> events = s.trace({.bytes = 16}, m);
  std::map<Activity, double> bytes;
  double end = 0;
  for (const TraceEvent& e : events) {
    CHECK(e.start >= 0 && e.seconds >= 0);
    if (e.activity == Activity::send) CHECK_EQ(e.peer, (e.rank + 1) % 4);
    if (e.activity == Activity::receive) CHECK_EQ(e.peer, (e.rank + 3) % 4);
    bytes[e.activity] += e.bytes;
    end = std::max(end, e.start + e.seconds);
  }
  CHECK_EQ(end, seconds);
  CHECK_EQ(bytes[Activity::send], 4.0 * 6 * 4);  // each rank 2(p-1) messages of a quarter
  CHECK_EQ(bytes[Activity::receive], bytes[Activity::send]);
  CHECK_EQ(bytes[Activity::reduce], 4.0 * 3 * 4);
}

TEST(events_of_a_rank_nest) {
  const Machine m = full();
  for (const char* id : {"allreduce/elimination", "alltoall/linear", "bcast/chain", "allreduce/dual_root"}) {
    const auto events =
        Simulator(*find_algorithm(id), {7, 0, {}}, {}, {4}).trace({.bytes = 4096, .segment = 1024, .depth = 3}, m);
    CHECK(!events.empty());
    std::vector<double> ends;
    Rank rank = no_rank;
    for (const TraceEvent& e : events) {
      if (e.rank != rank) ends.clear();
      rank = e.rank;
      while (!ends.empty() && ends.back() <= e.start) ends.pop_back();
      if (!ends.empty()) CHECK(e.start + e.seconds <= ends.back() * (1 + 1e-12));
      ends.push_back(e.start + e.seconds);
    }
  }
}

std::string refused(auto what) {
  try {
    what();
  } catch (const Error& e) {
    CHECK(!e.hint().empty());
    return e.what();
  }
  return "not refused";
}

TEST(what_is_too_large_is_refused) {
  const Machine m = flat(1, 1, 1);
  const Simulator chain(*find_algorithm("bcast/chain"), {4096, 0, {}});
  CHECK(refused([&] { return chain.run({.bytes = 1 << 30, .segment = 64}, m); }).starts_with("too large to simulate"));
  CHECK(
      refused([&] { return chain.trace({.bytes = 1 << 20, .segment = 1024}, m); }).starts_with("too much for a trace"));
  CHECK(refused([&] { return chain.run({.bytes = -1}, m); }).starts_with("a vector of -1 bytes"));
  CHECK(refused([&] { return chain.run({.bytes = 1, .depth = 0}, m); }).starts_with("no segment in flight"));
  CHECK(refused([&] {
          return Simulator(*find_algorithm("bcast/chain"), {4, 0, {}}, {}, {0});
        }).starts_with("nodes without ranks"));
  CHECK(refused([&] {
          return Simulator(*find_algorithm("bcast/scatter_ring"), {1 << 18, 0, {}});
        }).starts_with("bcast/scatter_ring on 262144 ranks is too large to simulate"));
}

/// Seconds of a core: other things that the machine has to do count for nothing.
double used() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Their time for one rank was once proportional to the number of ranks: a minute each.
TEST(schedules_of_many_ranks_are_built_quickly) {
  const Machine m = flat(1, 1, 1);
  const double most = many_ranks < 1 << 16 ? 8 : 20;  // some ten times what it takes
  for (const char* id :
       {"bcast/two_tree", "bcast/circulant_blocks", "reduce/circulant_blocks", "reduce/halving_gather"})
    for (const Rank p : {many_ranks, many_ranks - 1}) {
      const double begin = used();
      CHECK(Simulator(*find_algorithm(id), {p, 0, {}}).run({.bytes = 1 << 20}, m).seconds > 0);
      CHECK(used() - begin < most);
    }
}

TEST(four_thousand_ranks_take_no_second) {
  const Machine m = full();
  for (const char* id : {"allreduce/recursive_doubling", "allreduce/circulant", "bcast/binomial", "reduce/binomial",
                         "scan/recursive_doubling", "allreduce/dual_root", "bcast/two_tree", "bcast/circulant_blocks",
                         "reduce/halving_gather", "allreduce/swing"}) {
    const double begin = used();
    const Simulator s(*find_algorithm(id), {4096, 0, {}}, {}, {16});
    CHECK(s.run({.bytes = 1 << 20}, m).seconds > 0);
    CHECK(used() - begin < 10);  // ten times what it is to take
  }
}

}  // namespace
}  // namespace stretto::simulate_test

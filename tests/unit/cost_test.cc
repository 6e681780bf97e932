// SPDX-License-Identifier: BSD-3-Clause
//
// Machines, and the closed formulas against those that the 2005 paper prints.
#include <cmath>

#include "stretto/cost.hpp"
#include "stretto/error.hpp"
#include "support/test.hpp"

namespace stretto::cost_test {
namespace {

Machine flat(double alpha, double beta, double gamma) {
  Machine m;
  m.network = m.node = {.alpha = alpha, .beta = beta};
  m.gamma = gamma;
  return m;
}

double seconds(const char* id, Rank ranks, Bytes bytes, const Machine& machine) {
  return formula(*find_algorithm(id), {ranks, 0, {}}, {}, {.bytes = bytes}, machine).seconds;
}

TEST(formulas_of_the_paper) {
  const double a = 3e-6, b = 5e-9, c = 1e-10, n = 1 << 20;
  const Machine m = flat(a, b, c);
  const auto near = [](double x, double y) { return std::abs(x - y) <= 1e-12 * y; };
  for (const Rank p : {2, 8, 64, 1024}) {
    const double lg = std::log2(p), part = (p - 1.0) / p;
    CHECK(near(seconds("allgather/ring", p, 1 << 20, m), (p - 1) * a + part * n * b));               // 4.1
    CHECK(near(seconds("allgather/bruck", p, 1 << 20, m), lg * a + part * n * b));                   // 4.1.2
    CHECK(near(seconds("bcast/binomial", p, 1 << 20, m), lg * (a + n * b)));                         // 4.2
    CHECK(near(seconds("bcast/scatter_ring", p, 1 << 20, m), (lg + p - 1) * a + 2 * part * n * b));  // 4.2
    CHECK(near(seconds("alltoall/pairwise", p, 1 << 20, m), (p - 1) * a + part * n * b));            // 4.3
    CHECK(near(seconds("reduce_scatter/halving", p, 1 << 20, m), lg * a + part * n * (b + c)));      // 4.4
    CHECK(near(seconds("reduce/binomial", p, 1 << 20, m), lg * (a + n * b + n * c)));                // 4.5
    CHECK(near(seconds("reduce/halving_gather", p, 1 << 20, m), 2 * lg * a + 2 * part * n * b + part * n * c));
    CHECK(near(seconds("allreduce/recursive_doubling", p, 1 << 20, m), lg * (a + n * b + n * c)));  // 4.5
    CHECK(near(seconds("allreduce/halving_doubling", p, 1 << 20, m), 2 * lg * a + 2 * part * n * b + part * n * c));
    CHECK(near(seconds("allreduce/ring", p, 1 << 20, m), 2 * (p - 1) * a + 2 * part * n * b + part * n * c));  // 5.3
  }
}

TEST(shares_add_up) {
  const Prediction p = formula(*find_algorithm("allreduce/ring"), {4, 0, {}}, {}, {.bytes = 4}, flat(1, 10, 100));
  CHECK_EQ(p.latency, 6.0);
  CHECK_EQ(p.bandwidth, 60.0);
  CHECK_EQ(p.reduction, 300.0);
  CHECK_EQ(p.waiting, 0.0);
  CHECK_EQ(p.seconds, 366.0);
}

TEST(piecewise_linear) {
  const std::vector<Point> points{{0, 1}, {10, 2}, {10, 5}, {20, 7}};
  CHECK_EQ(interpolated(points, 0), 1.0);
  CHECK_EQ(interpolated(points, 5), 1.5);
  CHECK_EQ(interpolated(points, 10), 2.0);  // the step: what is not above it
  CHECK_EQ(interpolated(points, 15), 6.0);
  CHECK_EQ(interpolated(points, 40), 11.0);
  CHECK_EQ(interpolated({{4, 3}}, 100), 3.0);
  CHECK_EQ(interpolated({}, 100), 0.0);
  const Link link{.message = points};
  CHECK_EQ(link.latency(), 1.0);
  CHECK_EQ(link.transfer(20), 6.0);
}

TEST(speed_of_the_operation) {
  Machine m = flat(0, 0, 4);
  m.speeds = {{{"sum", ""}, 3}, {{"sum", "f64"}, 2}};
  CHECK_EQ(m.gamma_of({"sum", "f64"}), 2.0);
  CHECK_EQ(m.gamma_of({"sum", "i32"}), 3.0);
  CHECK_EQ(m.gamma_of({"max", "f64"}), 4.0);
  CHECK_EQ(m.gamma_of({}), 4.0);
}

TEST(placement) {
  const Placement k{4};
  CHECK(k.level(0, 3) == Level::node);
  CHECK(k.level(3, 4) == Level::network);
  CHECK(Placement{}.level(0, 1) == Level::network);
}

TEST(formula_says_when_it_does_not_hold) {
  const Algorithm& ring = *find_algorithm("allreduce/ring");
  const Shape shape{8, 0, {}};
  const Load load{.bytes = 1 << 20};
  const auto misses = [&](const Machine& m, Placement k = {}) { return formula_misses(ring, shape, load, m, k); };
  const Machine plain = flat(1, 1, 1);
  CHECK_EQ(misses(plain), "");
  CHECK_EQ(misses(plain, {4}), "");  // both levels alike
  Machine m = plain;
  m.node.alpha = 0.5;
  CHECK_EQ(misses(m), "");
  CHECK_EQ(misses(m, {4}), "messages take two levels");
  CHECK_EQ(misses(m, {8}), "");
  m = plain;
  m.network.f_beta = 0.5;
  CHECK_EQ(misses(m), "one way costs less than both ways");
  m = plain;
  m.copy = 1;
  CHECK_EQ(misses(m), "copies take time");
  m = plain;
  m.node = m.network = {.alpha = 1, .beta = 1, .contention = {{1, 1}, {4, 4}}};
  CHECK_EQ(misses(m), "");
  CHECK_EQ(misses(m, {4}), "ranks of a node contend");
  m = plain;
  m.cores = 2;
  CHECK_EQ(misses(m, {4}), "ranks share cores");
  CHECK_EQ(formula_misses(ring, shape, {.bytes = 1 << 20, .segment = 1 << 16}, plain), "segments overlap");
  CHECK(!formula_misses(*find_algorithm("allreduce/binary_blocks"), shape, load, plain).empty());
}

TEST(nodes_have_ranks) {
  const Algorithm& leaders = *find_algorithm("bcast/leaders");
  const auto ask = [&](auto question) -> std::string {
    try {
      question();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  CHECK_EQ(ask([&] { formula(leaders, Shape{8}, {}, {.bytes = 8}, flat(1, 1, 1), {0}); }), "nodes without ranks");
  CHECK_EQ(ask([&] { formula_misses(leaders, Shape{8}, {.bytes = 8}, flat(1, 1, 1), {0}); }), "nodes without ranks");
}

std::string refused(const Machine& machine) {
  try {
    check_machine(machine);
  } catch (const Error& e) {
    CHECK(!e.hint().empty());
    return e.what();
  }
  return "";
}

TEST(machines_that_make_no_sense) {
  const auto with = [](auto change) {
    Machine m;
    change(m);
    return refused(m);
  };
  CHECK_EQ(refused({}), "");
  CHECK_EQ(with([](Machine& m) { m.network.alpha = -1; }), "machine: network.alpha is no time");
  CHECK_EQ(with([](Machine& m) { m.node.beta = std::nan(""); }), "machine: node.beta is no time");
  CHECK_EQ(with([](Machine& m) { m.node.f_alpha = 0; }), "machine: node: f_alpha and f_beta are shares");
  CHECK_EQ(with([](Machine& m) { m.node.message = {{10, 1}, {0, 2}}; }),
           "machine: node.message: the points are not in order");
  CHECK_EQ(with([](Machine& m) { m.node.message = {{0, 2}, {10, 1}}; }), "machine: node.message: more takes less time");
  CHECK_EQ(with([](Machine& m) { m.node.message = {{0, 1}, {0, 2}}; }), "machine: node.message: ends in a step");
  CHECK_EQ(with([](Machine& m) { m.node.contention = {{1, 0.5}}; }),
           "machine: node.contention: a point is out of range");
  CHECK_EQ(with([](Machine& m) { m.cores = -1; }), "machine: cores are negative");
}

}  // namespace
}  // namespace stretto::cost_test

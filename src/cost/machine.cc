// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/machine.hpp"

#include <algorithm>
#include <cmath>

#include "stretto/error.hpp"

namespace stretto {
namespace {

void require(bool holds, const std::string& what, const std::string& hint) {
  if (!holds) throw Error("machine: " + what, hint);
}

void check_number(double value, const std::string& what) {
  require(std::isfinite(value) && value >= 0, what + " is no time", "give seconds, 0 or more");
}

void check_points(const std::vector<Point>& points, const std::string& what, double least) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    require(
        std::isfinite(points[i].at) && points[i].at >= 0 && std::isfinite(points[i].value) && points[i].value >= least,
        what + ": a point is out of range", "both numbers are 0 or more, and a slowdown is 1 or more");
    require(i == 0 || points[i].at >= points[i - 1].at, what + ": the points are not in order",
            "sort them by their first number");
    require(i == 0 || points[i].value >= points[i - 1].value, what + ": more takes less time",
            "the second numbers must not fall");
    require(i < 2 || points[i].at > points[i - 2].at, what + ": three points at one place", "two make a step");
  }
  require(points.size() < 2 || points.back().at > points[points.size() - 2].at, what + ": ends in a step",
          "give one more point behind it");
}

void check_link(const Link& link, const std::string& name) {
  check_number(link.alpha, name + ".alpha");
  check_number(link.beta, name + ".beta");
  check_number(link.send_overhead, name + ".send_overhead");
  check_number(link.receive_overhead, name + ".receive_overhead");
  for (const double f : {link.f_alpha, link.f_beta})
    require(f > 0 && f <= 1, name + ": f_alpha and f_beta are shares", "give a number above 0, 1 at most");
  check_points(link.message, name + ".message", 0);
  check_points(link.contention, name + ".contention", 1);
}

}  // namespace

double interpolated(const std::vector<Point>& points, double at) {
  if (points.empty()) return 0;
  if (at <= points.front().at || points.size() == 1) return points.front().value;
  const auto found = std::find_if(points.begin() + 1, points.end() - 1, [&](const Point& p) { return at <= p.at; });
  const Point& high = *found;
  const Point& low = *(found - 1);
  return low.value + (high.value - low.value) * ((at - low.at) / (high.at - low.at));
}

double Machine::gamma_of(const Operation& operation) const {
  for (const Operation& wanted : {operation, Operation{operation.name}})
    if (const auto found = std::ranges::find(speeds, wanted, &Speed::operation); found != speeds.end())
      return found->gamma;
  return gamma;
}

void check_placement(const Placement& placement) {
  if (placement.ranks_per_node < 1) throw Error("nodes without ranks", "give 1 rank of each node or more");
}

void check_machine(const Machine& machine) {
  check_link(machine.node, "node");
  check_link(machine.network, "network");
  check_number(machine.gamma, "gamma");
  check_number(machine.copy, "copy");
  check_number(machine.wait, "wait");
  require(machine.cores >= 0, "cores are negative", "give the cores of a node");
  for (const Speed& s : machine.speeds) check_number(s.gamma, "the reduction of " + s.operation.name);
}

}  // namespace stretto

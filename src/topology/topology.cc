// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/topology.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "stretto/error.hpp"

namespace stretto {
namespace {

std::size_t index(int number) { return static_cast<std::size_t>(number); }

void require(bool holds, const std::string& what, const std::string& hint) {
  if (!holds) throw Error("topology: " + what, hint);
}

void check_vertex(const std::vector<Vertex>& vertices, const Vertex& v) {
  require(v.above >= -1 && v.above < static_cast<int>(vertices.size()), v.name + " hangs on a vertex that is not there",
          "give the index of a switch, or -1");
  require(v.above < 0 || !vertices[index(v.above)].machine, v.name + " hangs on a machine", "machines are leaves");
  require(std::isfinite(v.bandwidth) && v.bandwidth >= 0, "the bandwidth of " + v.name + " is no number",
          "give bytes per second, 0 for no limit");
  require(std::isfinite(v.latency) && v.latency >= 0, "the latency of " + v.name + " is no time",
          "give seconds, 0 or more");
}

}  // namespace

Topology::Topology(std::vector<Vertex> vertices, std::vector<int> machine_of_rank, Bytes rendezvous)
    : vertices_(std::move(vertices)),
      machines_(std::move(machine_of_rank)),
      below_(vertices_.size()),
      levels_(vertices_.size(), -1),
      ranks_on_(vertices_.size(), 0),
      rendezvous_(rendezvous) {
  require(rendezvous >= 0, "rendezvous from fewer than 0 bytes", "give 0 where it is not known");
  for (const Vertex& v : vertices_) check_vertex(vertices_, v);
  for (const int machine : machines_) {
    require(machine >= 0 && machine < static_cast<int>(vertices_.size()) && vertices_[index(machine)].machine,
            "a rank is on no machine", "give the index of a machine for every rank");
    ++ranks_on_[index(machine)];
  }
  find_levels();
  find_ring();
}

void Topology::find_levels() {
  for (int v = 0; v < static_cast<int>(vertices_.size()); ++v) {
    if (parent(v) >= 0) continue;
    require(top_ < 0,
            "both " + vertices_[index(std::max(top_, 0))].name + " and " + vertices_[index(v)].name + " are on top",
            "all hangs on one switch");
    top_ = v;
    levels_[index(v)] = 0;
  }
  require(top_ >= 0, "no switch is on top", "one vertex has nothing above it");
  std::vector<int> chain;
  for (int v = 0; v < static_cast<int>(vertices_.size()); ++v) {
    chain.clear();
    for (int at = v; level(at) < 0; at = parent(at)) {
      require(chain.size() < vertices_.size(), "a cycle goes through " + vertices_[index(at)].name,
              "links from each vertex upwards lead to the top");
      chain.push_back(at);
    }
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) levels_[index(*at)] = level(parent(*at)) + 1;
  }
}

void Topology::find_ring() {
  constexpr Rank none = std::numeric_limits<Rank>::max();
  std::vector<Rank> lowest(vertices_.size(), none);
  for (Rank r = ranks() - 1; r >= 0; --r)
    for (int at = machine_of(r); at >= 0; at = parent(at)) lowest[index(at)] = r;
  for (int v = 0; v < static_cast<int>(vertices_.size()); ++v)
    if (v != top_) below_[index(parent(v))].push_back(v);
  for (std::vector<int>& children : below_)
    std::stable_sort(children.begin(), children.end(),
                     [&](int a, int b) { return lowest[index(a)] < lowest[index(b)]; });
  std::vector<std::vector<Rank>> of_machine(vertices_.size());
  for (Rank r = 0; r < ranks(); ++r) of_machine[index(machine_of(r))].push_back(r);
  std::vector<int> stack{top_};
  while (!stack.empty()) {
    const std::size_t at = index(stack.back());
    stack.pop_back();
    ring_.insert(ring_.end(), of_machine[at].begin(), of_machine[at].end());
    stack.insert(stack.end(), below_[at].rbegin(), below_[at].rend());
  }
}

std::string Topology::name_of(std::size_t way) const {
  const std::size_t link = way / 2, rank = link - vertices_.size();  // the second where it is no vertex's
  const bool of_vertex = link < vertices_.size();
  const std::string low = of_vertex ? vertices_[link].name : "rank " + std::to_string(rank);
  const int above = of_vertex ? vertices_[link].above : machines_[rank];
  const std::string high = above < 0 ? "outside" : vertices_[index(above)].name;
  return way % 2 == 0 ? low + " to " + high : high + " to " + low;
}

void Topology::path(Rank from, Rank to, std::vector<std::size_t>& ways) const {
  ways.clear();
  if (from == to) return;
  if (!alone(from)) ways.push_back(2 * (vertices_.size() + index(from)));
  if (!alone(to)) ways.push_back(2 * (vertices_.size() + index(to)) + 1);
  for (int a = machine_of(from), b = machine_of(to); a != b;) {
    if (level(a) >= level(b)) {
      ways.push_back(2 * index(a));
      a = parent(a);
    } else {
      ways.push_back(2 * index(b) + 1);
      b = parent(b);
    }
  }
}

double Topology::latency(Rank from, Rank to) const {
  double all = 0;
  for (int a = machine_of(from), b = machine_of(to); a != b;) {
    int& lower = level(a) >= level(b) ? a : b;
    all += vertices_[index(lower)].latency;
    lower = parent(lower);
  }
  return all;
}

Topology two_levels(std::span<const int> nodes, double bandwidth, double latency) {
  std::vector<Vertex> vertices{{.name = "network"}};
  std::vector<int> machine_of_rank;
  std::map<int, int> vertex_of;
  for (const int node : nodes) {
    const auto [at, fresh] = vertex_of.emplace(node, static_cast<int>(vertices.size()));
    if (fresh) vertices.push_back({"node" + std::to_string(vertices.size() - 1), 0, true, bandwidth, latency});
    machine_of_rank.push_back(at->second);
  }
  return Topology(std::move(vertices), std::move(machine_of_rank));
}

}  // namespace stretto

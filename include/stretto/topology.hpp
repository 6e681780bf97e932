// SPDX-License-Identifier: BSD-3-Clause
//
// A network that is a tree: switches, machines as leaves, ranks on the machines. From it come the order of a
// contention-free ring, what the messages of a schedule share, and what a collective takes at least (Patarasuk and
// Yuan 2007).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stretto/algorithm.hpp"

namespace stretto {

/// A switch or a machine, with its link to the switch above. Both directions of a link are used at once.
struct Vertex {
  std::string name = {};
  int above = -1;  ///< which of the vertices; -1: none, it is on top
  bool machine = false;
  double bandwidth = 0;  ///< of the link: bytes per second in each direction; 0: unlimited
  double latency = 0;    ///< of the link, in seconds
  bool operator==(const Vertex&) const = default;
};

class Topology {
 public:
  /// Throws stretto::Error unless the vertices are a tree and all ranks are on machines.
  Topology(std::vector<Vertex> vertices, std::vector<int> machine_of_rank, Bytes rendezvous = 0);

  const std::vector<Vertex>& vertices() const { return vertices_; }
  const std::vector<std::vector<int>>& below() const { return below_; }  ///< of each vertex, those of lower ranks first
  int top() const { return top_; }
  Rank ranks() const { return static_cast<Rank>(machines_.size()); }
  int machine_of(Rank rank) const { return machines_[static_cast<std::size_t>(rank)]; }
  Rank ranks_on(int machine) const { return ranks_on_[static_cast<std::size_t>(machine)]; }

  /// The ranks as a depth-first walk from the top meets them, at every vertex where lower ranks are first: around this
  /// ring every directed link is used once at most. Rank order, if the ranks lie so.
  const std::vector<Rank>& ring() const { return ring_; }

  /// A way is one direction of one link: two of each vertex, up and down, then two of each rank. Where a machine has
  /// several ranks, each has a link of its own to it, without limit.
  std::size_t ways() const { return 2 * (vertices_.size() + machines_.size()); }
  /// 0: unlimited.
  double bandwidth(std::size_t way) const { return way / 2 < vertices_.size() ? vertices_[way / 2].bandwidth : 0; }
  std::string name_of(std::size_t way) const;
  /// Indices of the ways from one rank to another.
  void path(Rank from, Rank to, std::vector<std::size_t>& ways) const;
  double latency(Rank from, Rank to) const;
  /// Messages of so many bytes and more leave when their receiver has answered; 0: not known, or none do.
  Bytes rendezvous() const { return rendezvous_; }

 private:
  void find_levels();
  void find_ring();
  int parent(int vertex) const { return vertices_[static_cast<std::size_t>(vertex)].above; }
  int level(int vertex) const { return levels_[static_cast<std::size_t>(vertex)]; }
  bool alone(Rank rank) const { return ranks_on(machine_of(rank)) == 1; }

  std::vector<Vertex> vertices_;
  std::vector<int> machines_;  // by rank
  std::vector<std::vector<int>> below_;
  std::vector<int> levels_;     // the top has 0
  std::vector<Rank> ranks_on_;  // ranks on each vertex
  std::vector<Rank> ring_;
  int top_ = -1;
  Bytes rendezvous_;
};

/// Two levels: nodes on one switch. `nodes` says for every rank on which node it is, by any numbers.
Topology two_levels(std::span<const int> nodes, double bandwidth = 0, double latency = 0);

/// A message of a schedule. A step is what the checker counts: rounds along the longest chain, from 1.
struct Transfer {
  std::int64_t step;
  Rank from, to;
  Block blocks;
};

/// The messages of all ranks' schedules, sorted by step, sender and receiver. Throws stretto::Error if they wait for
/// each other for ever.
std::vector<Transfer> transfers(std::span<const Schedule> schedules);

/// The same of an algorithm, which must be suitable. Throws stretto::Error where there would be too many.
std::vector<Transfer> transfers(const Algorithm& algorithm, const Shape& shape, const Params& params = {});

/// The messages of one step, on the tree. Those without blocks take time and no link.
struct StepTraffic {
  std::int64_t messages = 0;
  std::int64_t shared = 0;  ///< ways that several messages use: 0 if the step is contention-free
  std::int64_t most = 0;    ///< messages on one way
  std::size_t where = 0;    ///< that way, the first of them
  double latency = 0;       ///< of the longest path
  double per_block = 0;     ///< seconds of the slowest way, for every byte of a block
  Block largest = 0;        ///< of its messages between machines
};

struct Traffic {
  std::vector<StepTraffic> steps;
  std::vector<std::int64_t> most;  ///< messages of one step, by way
  std::vector<Block> blocks;       ///< of all steps, by way
  double latency = 0;              ///< sum over the steps
  double per_block = 0;            ///< the same
  double busiest = 0;              ///< seconds of the way that all steps together use most, for every byte of a block

  bool contention_free() const;
};

/// What all messages of the schedules do on the tree. The topology has at least as many ranks.
Traffic traffic(const Topology& topology, std::span<const Transfer> transfers);

/// The messages of a step that use a way.
std::vector<Transfer> sharing(const Topology& topology, std::span<const Transfer> transfers, std::int64_t step,
                              std::size_t way);

struct TreeTime {
  double seconds = 0;
  std::int64_t segments = 1;
};

/// Step by step, each as long as its slowest way; or, where that is faster, in segments that follow each other as
/// closely as the busiest way and the longest path let them. Blocks are taken as equally large.
TreeTime time_on_tree(const Traffic& traffic, Block blocks, Bytes bytes);

/// What a collective takes at least on a tree, whatever the algorithm.
struct Bound {
  double seconds = 0;
  std::string reason;
};

/// Of `bytes`, the whole vector; parts are taken as equally large.
Bound lower_bound(const Topology& topology, Collective collective, Rank root, Bytes bytes);

}  // namespace stretto

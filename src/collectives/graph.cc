// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/graph.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include "collectives/stencil.hpp"

namespace stretto {
namespace {

std::size_t index(Block n) { return static_cast<std::size_t>(n); }

/// The neighbour of `rank` one step on in dimension `d`, or before; no_rank at an edge.
Rank beside(const Grid& grid, Rank rank, std::size_t d, Rank step) {
  Rank stride = 1;
  for (std::size_t i = d + 1; i < grid.dims.size(); ++i) stride *= grid.dims[i];
  const Rank size = grid.dims[d], at = rank / stride % size, to = at + step;
  if (!grid.periodic[d] && (to < 0 || to >= size)) return no_rank;
  return rank + ((to + size) % size - at) * stride;
}

std::vector<Neighbours> on_grid(const Grid& grid) {
  const Rank ranks = std::accumulate(grid.dims.begin(), grid.dims.end(), Rank{1}, std::multiplies<>());
  std::vector<Neighbours> all(index(ranks));
  for (Rank r = 0; r < ranks; ++r) {
    auto& near = all[index(r)].sources;
    for (std::size_t d = 0; d < grid.dims.size(); ++d)
      for (const Rank step : {-1, 1}) near.push_back(beside(grid, r, d, step));
    all[index(r)].destinations = near;
  }
  return all;
}

}  // namespace

Graph::Graph(std::vector<Neighbours> all, std::string name)
    : ranks_(static_cast<Rank>(all.size())),
      all_(std::move(all)),
      name_(std::move(name)) {
  match();
  connect();
  if (misfit_.empty()) dims_ = stencil_dims(all_);
}

Graph::Graph(const Grid& grid, std::string name)
    : grid_(true),
      all_(on_grid(grid)),
      dims_(grid.dims),
      name_(std::move(name)) {
  ranks_ = static_cast<Rank>(all_.size());
  match();
  connect();
}

Graph::Graph(Rank ranks, Rank rank, Neighbours own)
    : ranks_(ranks),
      only_(rank),
      all_{std::move(own)},
      slots_(static_cast<Block>(std::max(all_[0].sources.size(), all_[0].destinations.size()))) {}

void Graph::match() {
  std::vector<std::vector<Part>> sent(all_.size());  // to each rank, by sender and slot
  for (Rank r = 0; r < ranks_; ++r) {
    const Neighbours& near = of(r);
    slots_ = std::max({slots_, static_cast<Block>(near.sources.size()), static_cast<Block>(near.destinations.size())});
    for (std::size_t k = 0; k < near.destinations.size(); ++k)
      if (near.destinations[k] != no_rank) sent[index(near.destinations[k])].push_back({r, static_cast<Block>(k)});
  }
  for (Rank r = 0; r < ranks_; ++r) {
    const std::vector<Rank>& from = of(r).sources;
    std::vector<Part>& parts = sources_.emplace_back(from.size(), Part{no_rank, 0});
    std::vector<Block> order = arrivals(r);
    std::ranges::stable_sort(order, {}, [&](Block slot) { return from[index(slot)]; });
    const std::vector<Part>& arriving = sent[index(r)];
    const bool match =
        std::ranges::equal(order, arriving, {}, [&](Block slot) { return from[index(slot)]; }, &Part::rank);
    if (!match && misfit_.empty())
      misfit_ = "the sources of rank " + std::to_string(r) + " are not the ranks that have it as destination";
    for (std::size_t i = 0; match && i < order.size(); ++i) parts[index(order[i])] = arriving[i];
  }
}

void Graph::connect() {
  std::vector<Rank> leader(all_.size());
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](Rank r) {
    while (leader[index(r)] != r) r = leader[index(r)] = leader[index(leader[index(r)])];
    return r;
  };
  Rank parts = ranks_;
  std::int64_t edges = 0;
  for (Rank r = 0; r < ranks_; ++r)
    for (const Rank to : all_[index(r)].destinations) {
      if (to == no_rank) continue;
      ++edges;
      const Rank a = find(r), b = find(to);
      if (a == b) continue;
      leader[index(a)] = b;
      --parts;
    }
  connected_ = parts == 1;
  mean_degree_ = static_cast<double>(edges) / ranks_;
}

std::vector<Block> Graph::arrivals(Rank rank) const {
  const std::vector<Rank>& sources = of(rank).sources;
  std::vector<Block> order;
  for (Block slot = 0; slot < static_cast<Block>(sources.size()); ++slot) {
    const Block crossed = grid_ ? slot ^ 1 : slot;
    if (sources[index(crossed)] != no_rank) order.push_back(crossed);
  }
  return order;
}

std::int64_t messages_to_node(const Graph& graph, std::span<const Rank> nodes) {
  std::set<std::pair<Rank, Rank>> pairs;
  std::int64_t messages = 0;
  for (Rank r = 0; r < graph.ranks(); ++r)
    for (const Rank to : graph.of(r).destinations) {
      if (to == no_rank || nodes[index(to)] == nodes[index(r)]) continue;
      pairs.emplace(nodes[index(r)], nodes[index(to)]);
      ++messages;
    }
  return pairs.empty() ? 0 : messages / static_cast<std::int64_t>(pairs.size());
}

std::shared_ptr<const Graph> default_graph(Rank ranks) {
  static std::mutex mutex;
  static auto& last = *new std::shared_ptr<const Graph>;  // never destroyed: others may ask when a program ends
  const std::lock_guard lock(mutex);
  if (!last || last->ranks() != ranks) {
    const std::vector<Rank> dims = near_square(ranks);
    last = parse_graph("stencil=" + std::to_string(dims[0]) + 'x' + std::to_string(dims[1]), ranks);
  }
  return last;
}

}  // namespace stretto

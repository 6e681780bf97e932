// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/graph.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "collectives/stencil.hpp"
#include "stretto/error.hpp"
#include "support/text.hpp"

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

constexpr Rank most_neighbours = 1 << 16;
constexpr std::size_t most_stencil_dims = 10;  // of a stencil, whose ranks have 3^dims neighbours

[[noreturn]] void unknown(const std::string& text, const std::string& why) {
  throw Error("graph '" + text + "': " + why, "write torus=4x4, grid=4x4, stencil=4x4 or random=3");
}

Rank number(const std::string& text, std::string_view digits) {
  const auto n = parsed<Rank>(digits);
  if (!n || *n < 1) unknown(text, "'" + std::string(digits) + "' is not a number of at least 1");
  return *n;
}

std::vector<Rank> dims_of(const std::string& text, std::string_view sizes, Rank ranks) {
  std::vector<Rank> dims;
  std::int64_t product = 1;
  for (std::size_t begin = 0; begin <= sizes.size();) {
    const std::size_t end = std::min(sizes.find('x', begin), sizes.size());
    dims.push_back(number(text, sizes.substr(begin, end - begin)));
    product *= dims.back();
    if (product > ranks) break;
    begin = end + 1;
  }
  if (product != ranks) unknown(text, "it does not have " + std::to_string(ranks) + " ranks");
  return dims;
}

/// Not a standard distribution: these differ between C++ libraries.
Rank below(std::mt19937& random, Rank n) { return static_cast<Rank>(random() % static_cast<std::uint32_t>(n)); }

/// Each rank has up to twice `degree` destinations, some none; sources come in an order of their own.
std::vector<Neighbours> random_neighbours(Rank ranks, Rank degree) {
  std::mt19937 random(static_cast<std::uint32_t>(ranks) * 31 + static_cast<std::uint32_t>(degree));
  std::vector<Neighbours> all(static_cast<std::size_t>(ranks));
  for (Rank r = 0; r < ranks; ++r)
    for (Rank left = below(random, 2 * degree + 1); left > 0; --left) {
      const Rank to = below(random, ranks);
      all[static_cast<std::size_t>(r)].destinations.push_back(to);
      all[static_cast<std::size_t>(to)].sources.push_back(r);
    }
  for (Neighbours& near : all)
    for (std::size_t i = near.sources.size(); i > 1; --i)
      std::swap(near.sources[i - 1], near.sources[static_cast<std::size_t>(below(random, static_cast<Rank>(i)))]);
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

std::shared_ptr<const Graph> parse_graph(const std::string& text, Rank ranks) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) unknown(text, "it has no '='");
  const std::string kind = text.substr(0, equals);
  const std::string_view rest = std::string_view(text).substr(equals + 1);
  if (kind == "random") {
    const Rank degree = number(text, rest);
    if (degree > most_neighbours) unknown(text, "at most " + std::to_string(most_neighbours) + " neighbours");
    return std::make_shared<const Graph>(random_neighbours(ranks, degree), text);
  }
  if (kind != "torus" && kind != "grid" && kind != "stencil") unknown(text, "there is no kind '" + kind + "'");
  const std::vector<Rank> dims = dims_of(text, rest, ranks);
  if (kind == "stencil" && dims.size() > most_stencil_dims)
    unknown(text, "at most " + std::to_string(most_stencil_dims) + " dimensions");
  if (kind == "stencil") return std::make_shared<const Graph>(stencil(dims), text);
  return std::make_shared<const Graph>(Grid{dims, std::vector<bool>(dims.size(), kind == "torus")}, text);
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

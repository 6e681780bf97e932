// SPDX-License-Identifier: BSD-3-Clause
//
// The graph of a neighbourhood collective: from whom a rank receives, and to whom it sends.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stretto/types.hpp"

namespace stretto {

/// Of one rank, in the order in which MPI counts its parts; no_rank: a part without a neighbour, at the edge of a grid.
struct Neighbours {
  std::vector<Rank> sources, destinations;
  bool operator==(const Neighbours&) const = default;
};

/// The sizes of a grid's dimensions, slowest first, and which of them are rings.
struct Grid {
  std::vector<Rank> dims;
  std::vector<bool> periodic;
};

class Graph {
 public:
  /// A part of a rank's input.
  struct Part {
    Rank rank;
    Block slot;
  };

  /// Of all ranks. The k-th part that s sends to d is the k-th that d receives from s.
  explicit Graph(std::vector<Neighbours> all, std::string name = {});
  /// Of all ranks of a grid, as MPI_Cart_create orders them: in each dimension the neighbour before and the one behind.
  /// What is sent to the one arrives as from the other.
  explicit Graph(const Grid& grid, std::string name = {});
  /// What `rank` alone knows. Its parts are matched as above.
  Graph(Rank ranks, Rank rank, Neighbours own);

  Rank ranks() const { return ranks_; }
  /// Are the neighbours of all ranks known?
  bool whole() const { return only_ == no_rank; }
  /// As parse_graph() reads it; empty for others.
  const std::string& name() const { return name_; }
  /// Why sources and destinations do not match, in words; empty if they do.
  const std::string& misfit() const { return misfit_; }
  const Neighbours& of(Rank rank) const { return all_[whole() ? static_cast<std::size_t>(rank) : 0]; }
  /// The most parts that a rank sends or receives.
  Block slots() const { return slots_; }
  /// What arrives as part `slot` of `rank`, which has a source. The graph is whole.
  Part source(Rank rank, Block slot) const {
    return sources_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(slot)];
  }
  /// The parts that `rank` receives, in an order in which those of one source have the order of its parts.
  std::vector<Block> arrivals(Rank rank) const;
  /// Are parts matched as on a grid?
  bool is_grid() const { return grid_; }
  /// Do ways along the edges, forwards or backwards, lead from each rank to each? The graph is whole.
  bool connected() const { return connected_; }
  /// Parts that a rank sends, on average. The graph is whole.
  double mean_degree() const { return mean_degree_; }
  /// Dimensions of a torus or grid on which the neighbours are near. The graph is whole.
  const std::vector<Rank>& dims() const { return dims_; }

 private:
  void match();
  void connect();

  Rank ranks_;
  Rank only_ = no_rank;  // whose neighbours alone are known
  bool grid_ = false;
  std::vector<Neighbours> all_;
  std::vector<std::vector<Part>> sources_;
  Block slots_ = 0;
  bool connected_ = false;
  double mean_degree_ = 0;
  std::vector<Rank> dims_;
  std::string misfit_, name_;
};

/// "torus=4x4", "grid=4x4": MPI_Cart_create's; "stencil=4x4": a torus whose ranks also have those neighbours that are
/// one step away in several dimensions; "random=3": about three neighbours each, of a generator's choice, among them
/// oneself and the same one twice. Throws stretto::Error.
std::shared_ptr<const Graph> parse_graph(const std::string& text, Rank ranks);

/// So many parts, on average, are there for a node from another that has some for it. `nodes` is the node of each rank,
/// and `graph` whole; 0: none leaves its node.
std::int64_t messages_to_node(const Graph& graph, std::span<const Rank> nodes);

/// Of a shape that has none: the stencil in two dimensions of about equal size.
std::shared_ptr<const Graph> default_graph(Rank ranks);

/// Two dimensions of about equal size.
std::vector<Rank> near_square(Rank ranks);

}  // namespace stretto

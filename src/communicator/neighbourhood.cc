// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/neighbourhood.hpp"

#include <algorithm>
#include <vector>

#include "mpi/native.hpp"

namespace stretto::mpi {
namespace {

constexpr std::int64_t most_numbers = std::int64_t{4} << 20;  // that are gathered: 16 MiB

std::vector<Rank> known(std::vector<int> ranks) {
  for (int& r : ranks)
    if (r == MPI_PROC_NULL) r = no_rank;
  return ranks;
}

std::shared_ptr<const Graph> grid_of(MPI_Comm comm) {
  int n = 0;
  if (native().Cartdim_get(comm, &n) != MPI_SUCCESS) return nullptr;
  std::vector<int> dims(static_cast<std::size_t>(n) + 1), periodic(dims.size()), at(dims.size());
  if (native().Cart_get(comm, n, dims.data(), periodic.data(), at.data()) != MPI_SUCCESS) return nullptr;
  dims.pop_back();
  periodic.pop_back();
  return std::make_shared<const Graph>(Grid{{dims.begin(), dims.end()}, {periodic.begin(), periodic.end()}});
}

std::shared_ptr<const Graph> graph_of_each(MPI_Comm comm, Rank ranks) {
  std::vector<Neighbours> all;
  for (Rank r = 0; r < ranks; ++r) {
    int n = 0;
    if (native().Graph_neighbors_count(comm, r, &n) != MPI_SUCCESS) return nullptr;
    std::vector<int> near(static_cast<std::size_t>(n) + 1);
    if (native().Graph_neighbors(comm, r, n, near.data()) != MPI_SUCCESS) return nullptr;
    near.pop_back();
    const std::vector<Rank> ranks_near = known(std::move(near));
    all.push_back({ranks_near, ranks_near});
  }
  return std::make_shared<const Graph>(std::move(all));
}

std::shared_ptr<const Graph> distributed_graph_of(MPI_Comm comm, Rank rank, Rank ranks) {
  int in = 0, out = 0, weighted = 0;
  if (native().Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS) return nullptr;
  const auto room = static_cast<std::size_t>(std::max(in, out)) + 1;  // an address, even of nothing
  std::vector<int> sources(room), destinations(room), weights_in(room), weights_out(room);
  if (native().Dist_graph_neighbors(comm, in, sources.data(), weights_in.data(), out, destinations.data(),
                                    weights_out.data()) != MPI_SUCCESS)
    return nullptr;
  sources.resize(static_cast<std::size_t>(in));
  destinations.resize(static_cast<std::size_t>(out));
  return std::make_shared<const Graph>(ranks, rank,
                                       Neighbours{known(std::move(sources)), known(std::move(destinations))});
}

}  // namespace

int topology_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  return native().Topo_test(comm, &topology) == MPI_SUCCESS ? topology : MPI_UNDEFINED;
}

bool has_topology(MPI_Comm comm) {
  int inter = 0;
  return native().Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter && topology_of(comm) != MPI_UNDEFINED;
}

std::shared_ptr<const Graph> graph_known_to(MPI_Comm comm, Rank rank, Rank ranks) {
  const int topology = topology_of(comm);
  if (topology == MPI_CART) return grid_of(comm);
  if (topology == MPI_GRAPH) return graph_of_each(comm, ranks);
  return topology == MPI_DIST_GRAPH ? distributed_graph_of(comm, rank, ranks) : nullptr;
}

std::shared_ptr<const Graph> graph_of_all(Bootstrap& all, std::shared_ptr<const Graph> own, Rank rank) {
  // All ranks take the same turns, whatever each knows.
  const bool asks = own && !own->whole();
  const Neighbours mine = own ? own->of(rank) : Neighbours{};
  const auto numbers_of_mine = static_cast<std::int64_t>(mine.sources.size() + mine.destinations.size());
  const auto [all_ask, minus_most] = all.minimum(std::array<std::int64_t, 2>{asks ? 1 : 0, -numbers_of_mine});
  const std::int64_t each = 2 - minus_most;
  if (!all.agreed() || all_ask == 0 || each * own->ranks() > most_numbers) return own;
  std::vector<Rank> numbers{static_cast<Rank>(mine.sources.size()), static_cast<Rank>(mine.destinations.size())};
  numbers.insert(numbers.end(), mine.sources.begin(), mine.sources.end());
  numbers.insert(numbers.end(), mine.destinations.begin(), mine.destinations.end());
  numbers.resize(static_cast<std::size_t>(each));
  std::vector<Rank> gathered(static_cast<std::size_t>(each * own->ranks()));
  all.allgather(numbers.data(), gathered.data(), static_cast<int>(each) * static_cast<int>(sizeof(Rank)));
  if (!all.agreed()) return own;
  std::vector<Neighbours> neighbours;
  for (auto at = gathered.cbegin(); at != gathered.cend(); at += each) {
    const auto middle = at + 2 + at[0];
    neighbours.push_back({{at + 2, middle}, {middle, middle + at[1]}});
  }
  auto whole = std::make_shared<const Graph>(std::move(neighbours));
  return whole->misfit().empty() ? whole : own;
}

}  // namespace stretto::mpi

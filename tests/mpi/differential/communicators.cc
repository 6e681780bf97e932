// SPDX-License-Identifier: BSD-3-Clause
#include "communicators.hpp"

namespace stretto::differential {
namespace {

using mpi::constants;
using mpi::native;

Member member_of(MPI_Comm comm, std::string text) {
  Member m{comm, std::move(text)};
  if (comm == constants().comm_null) return m;
  native().Comm_rank(comm, &m.rank);
  native().Comm_size(comm, &m.ranks);
  return m;
}

/// Any numbers of them, whose product is `ranks`.
Grid random_grid(int ranks, Random& random) {
  Grid grid;
  for (int left = ranks, n = random.between(1, 3); n > 0; --n) {
    int size = left;
    while (n > 1 && left % (size = random.between(1, left)) != 0) {
    }
    grid.dims.push_back(size);
    left /= size;
  }
  for (std::size_t d = 0; d < grid.dims.size(); ++d) grid.periodic.push_back(random.percent(60));
  return grid;
}

/// Some ranks have no neighbours; some have themselves, or one several times. Sources come in an order of their own.
std::vector<Neighbours> random_neighbours(int ranks, Random& random) {
  std::vector<Neighbours> all(static_cast<std::size_t>(ranks));
  const int most = random.between(1, 6);
  for (int r = 0; r < ranks; ++r)
    for (int left = random.percent(20) ? 0 : random.below(most + 1); left > 0; --left) {
      const int to = random.below(ranks);
      all[static_cast<std::size_t>(r)].destinations.push_back(to);
      auto& sources = all[static_cast<std::size_t>(to)].sources;
      sources.insert(sources.begin() + random.below(static_cast<int>(sources.size()) + 1), r);
    }
  return all;
}

MPI_Comm with_grid(MPI_Comm comm, const Grid& grid) {
  const std::vector<int> periodic(grid.periodic.begin(), grid.periodic.end());
  MPI_Comm made{};
  native().Cart_create(comm, static_cast<int>(grid.dims.size()), grid.dims.data(), periodic.data(), 0, &made);
  return made;
}

MPI_Comm with_neighbours(MPI_Comm comm, const Neighbours& near) {
  // Not MPI_UNWEIGHTED, which may be a variable of the library.
  const std::vector<int> weights(near.sources.size() + near.destinations.size() + 1, 3);
  MPI_Comm made{};
  native().Dist_graph_create_adjacent(comm, static_cast<int>(near.sources.size()), near.sources.data(), weights.data(),
                                      static_cast<int>(near.destinations.size()), near.destinations.data(),
                                      weights.data(), MPI_INFO_NULL, 0, &made);
  return made;
}

}  // namespace

Communicators::Communicators() {
  all_.push_back(member_of(constants().world, "world"));
  Random random(1);
  for (int i = 0; i < 2; ++i) all_.push_back(make_topology(random));
}

Member Communicators::make_topology(Random& random) const {
  const Member& world = all_[0];
  const int kind = random.below(3);
  const bool copied = random.percent(30);
  std::shared_ptr<const Graph> graph;
  MPI_Comm comm{};
  if (kind == 0) {
    const Grid grid = random_grid(world.ranks, random);
    graph = std::make_shared<const Graph>(grid);
    comm = with_grid(world.comm, grid);
  } else {
    graph =
        kind == 1 ? default_graph(world.ranks) : std::make_shared<const Graph>(random_neighbours(world.ranks, random));
    comm = with_neighbours(world.comm, graph->of(world.rank));
  }
  if (copied) {
    MPI_Comm copy{};
    native().Comm_dup(comm, &copy);
    native().Comm_free(&comm);
    comm = copy;
  }
  static const char* const names[] = {"grid", "stencil", "graph"};
  Member member = member_of(comm, std::string(copied ? "copy of a " : "") + names[kind]);
  member.graph = std::move(graph);
  return member;
}

Communicators::~Communicators() {
  for (std::size_t i = 1; i < all_.size(); ++i)
    if (all_[i].comm != constants().comm_null) native().Comm_free(&all_[i].comm);
}

Member Communicators::make(Random& random) const {
  const Member& world = all_[0];
  const int kind = random.below(5);
  const std::uint64_t common = random.next();
  Random own(common + static_cast<std::uint64_t>(world.rank));
  MPI_Comm comm{};
  const auto split = [&](int color, int key) { native().Comm_split(world.comm, color, key, &comm); };
  switch (kind) {
    case 0: split(own.below(3), own.below(100)); return member_of(comm, "random split");
    case 1: split(0, -world.rank); return member_of(comm, "reversed");
    case 2: native().Comm_dup(world.comm, &comm); return member_of(comm, "duplicate");
    case 3: split(world.rank, 0); return member_of(comm, "alone");
    default: split(own.percent(70) ? 0 : MPI_UNDEFINED, own.below(100)); return member_of(comm, "some, shuffled");
  }
}

void Communicators::exchange_one(Random& random) {
  if (all_.size() < most) {
    all_.push_back(make(random));
    return;
  }
  Member& old = all_[static_cast<std::size_t>(random.between(1, static_cast<int>(most) - 1))];
  if (old.comm != constants().comm_null) native().Comm_free(&old.comm);
  old = old.graph ? make_topology(random) : make(random);
}

const Member& Communicators::pick(Random& random) const {
  if (random.percent(40)) return all_[0];
  return random.pick(all_);
}

}  // namespace stretto::differential

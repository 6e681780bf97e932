// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/stencil.hpp"

#include <limits>
#include <set>

namespace stretto {
namespace {

constexpr std::size_t most_dims = 4;

std::size_t index(Rank n) { return static_cast<std::size_t>(n); }

using Coordinates = std::vector<Rank>;

Coordinates coordinates(const std::vector<Rank>& dims, Rank rank) {
  Coordinates at(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; rank /= dims[d]) at[d] = rank % dims[d];
  return at;
}

Rank rank_at(const std::vector<Rank>& dims, const Coordinates& at) {
  Rank rank = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) rank = rank * dims[d] + (at[d] + dims[d]) % dims[d];
  return rank;
}

/// As each rank of the torus sees it.
Coordinates offset(const std::vector<Rank>& dims, const Coordinates& from, Rank to) {
  Coordinates way = coordinates(dims, to);
  for (std::size_t d = 0; d < dims.size(); ++d) way[d] = (way[d] - from[d] + dims[d]) % dims[d];
  return way;
}

/// Messages of a rank that corrects one dimension after the other; the largest number if not all ranks are alike.
std::size_t messages(const std::vector<Rank>& dims, const std::vector<Neighbours>& all) {
  constexpr std::size_t unlike = std::numeric_limits<std::size_t>::max();
  std::vector<Coordinates> offsets;
  for (Rank r = 0; r < static_cast<Rank>(all.size()); ++r) {
    const Coordinates from = coordinates(dims, r);
    std::vector<Coordinates> ways;
    for (const Rank to : all[index(r)].destinations) {
      if (to == no_rank) return unlike;
      ways.push_back(offset(dims, from, to));
    }
    if (r == 0) offsets = ways;
    if (ways != offsets) return unlike;
  }
  std::size_t sum = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    std::set<Rank> steps;
    for (const Coordinates& way : offsets)
      if (way[d] != 0) steps.insert(way[d]);
    sum += steps.size();
  }
  return sum;
}

/// Calls `each(dims)` for all ways to write `left` as a product of numbers above 1.
template <typename Each>
void factorize(Rank left, std::vector<Rank>& dims, const Each& each) {
  if (left == 1) return each(dims);
  if (dims.size() == most_dims) return;
  for (Rank size = 2; size <= left; ++size) {
    if (left % size != 0) continue;
    dims.push_back(size);
    factorize(left / size, dims, each);
    dims.pop_back();
  }
}

}  // namespace

std::vector<Rank> near_square(Rank ranks) {
  Rank rows = 1;
  for (Rank r = 1; std::int64_t{r} * r <= ranks; ++r)
    if (ranks % r == 0) rows = r;
  return {rows, ranks / rows};
}

std::vector<Neighbours> stencil(const std::vector<Rank>& dims) {
  Rank ranks = 1, near = 1;
  for (const Rank size : dims) {
    ranks *= size;
    near *= 3;
  }
  std::vector<Neighbours> all(index(ranks));
  const std::vector<Rank> threes(dims.size(), 3);
  for (Rank r = 0; r < ranks; ++r) {
    const Coordinates here = coordinates(dims, r);
    for (Rank n = 0; n < near; ++n) {
      Coordinates to = here, from = here;
      const Coordinates step = coordinates(threes, n);
      for (std::size_t d = 0; d < dims.size(); ++d) {
        to[d] += step[d] - 1;
        from[d] -= step[d] - 1;
      }
      if (n == near / 2) continue;
      all[index(r)].destinations.push_back(rank_at(dims, to));
      all[index(r)].sources.push_back(rank_at(dims, from));
    }
  }
  return all;
}

std::vector<Rank> stencil_dims(const std::vector<Neighbours>& all) {
  const auto ranks = static_cast<Rank>(all.size());
  std::vector<Rank> best = near_square(ranks), dims;
  std::size_t fewest = messages(best, all);
  factorize(ranks, dims, [&](const std::vector<Rank>& found) {
    const std::size_t needed = messages(found, all);
    if (needed < fewest) {
      fewest = needed;
      best = found;
    }
  });
  return best;
}

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <numeric>
#include <random>

#include "collectives/stencil.hpp"
#include "stretto/error.hpp"

namespace stretto {
namespace {

constexpr Rank most_neighbours = 1 << 16;
constexpr std::size_t most_dims = 10;  // of a stencil, whose ranks have 3^dims neighbours

[[noreturn]] void unknown(const std::string& text, const std::string& why) {
  throw Error("graph '" + text + "': " + why, "write torus=4x4, grid=4x4, stencil=4x4 or random=3");
}

Rank number(const std::string& text, std::string_view digits) {
  Rank n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc() || end != digits.data() + digits.size() || n < 1)
    unknown(text, "'" + std::string(digits) + "' is not a number of at least 1");
  return n;
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
  if (kind == "stencil" && dims.size() > most_dims)
    unknown(text, "at most " + std::to_string(most_dims) + " dimensions");
  if (kind == "stencil") return std::make_shared<const Graph>(stencil(dims), text);
  return std::make_shared<const Graph>(Grid{dims, std::vector<bool>(dims.size(), kind == "torus")}, text);
}

}  // namespace stretto

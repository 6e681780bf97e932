// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/variants.hpp"

#include <numeric>
#include <random>

namespace stretto {
namespace {

/// Below n. Not a standard distribution: these differ between C++ libraries.
Count below(std::mt19937& random, Count n) { return static_cast<Count>(random() % static_cast<std::uint32_t>(n)); }

/// Descending from below p to 1, each at least half of the one before.
std::vector<Rank> random_skips(std::mt19937& random, Rank ranks) {
  std::vector<Rank> skips;
  for (Rank s = ranks; s > 1;) {
    const Rank least = (s + 1) / 2;
    s = least + static_cast<Rank>(below(random, s - least));
    skips.push_back(s);
  }
  return skips;
}

/// At least 2 each; their product is above half of p.
std::vector<Rank> random_radices(std::mt19937& random, Rank ranks) {
  std::vector<Rank> radices;
  for (Rank left = ranks; left > 1; left /= radices.back())
    radices.push_back(2 + static_cast<Rank>(below(random, left - 1)));
  return radices;
}

std::vector<Rank> random_order(std::mt19937& random, Rank ranks) {
  std::vector<Rank> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  for (Rank i = ranks - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(below(random, i + 1))]);
  return order;
}

/// Consecutive, cyclic, random, all on one node, each alone; random on two, consecutive on three levels.
std::vector<Rank> random_nodes(std::mt19937& random, Rank ranks, int kind) {
  const Rank size = 2 + static_cast<Rank>(below(random, 4));
  const Rank count = (ranks + size - 1) / size;
  std::vector<Rank> nodes(static_cast<std::size_t>(ranks));
  for (Rank r = 0; r < ranks; ++r) {
    Rank& node = nodes[static_cast<std::size_t>(r)];
    switch (kind) {
      case 0:
      case 6: node = r / size; break;
      case 1: node = r % count; break;
      case 3: node = 0; break;
      case 4: node = r; break;
      default: node = static_cast<Rank>(below(random, count)); break;
    }
  }
  const std::size_t outer = kind == 5 ? 1 : kind == 6 ? 2 : 0;
  for (std::size_t i = 0; i < outer * static_cast<std::size_t>(ranks); ++i)
    nodes.push_back(kind == 5 ? nodes[i] * 7 % 3 : nodes[i] / 2);
  return nodes;
}

/// Equal, one only, falling, random with holes, none at all.
std::vector<Count> random_counts(std::mt19937& random, Rank ranks, int kind) {
  std::vector<Count> counts(static_cast<std::size_t>(ranks));
  const Count spike = below(random, ranks);
  for (Rank r = 0; r < ranks; ++r) {
    Count& count = counts[static_cast<std::size_t>(r)];
    switch (kind) {
      case 0: count = 12; break;
      case 1: count = r == spike ? 1000 : 0; break;
      case 2: count = 7 * (ranks - r); break;
      case 3: count = below(random, 3) == 0 ? 0 : below(random, 60); break;
      default: count = 0;
    }
  }
  return counts;
}

class Collector {
 public:
  Collector(const Algorithm& algorithm, Rank ranks, Rank root) : algorithm_(algorithm) {
    default_.shape = {ranks, root};
    if (facts(algorithm.collective).neighbourhood) default_.shape.graph = default_graph(ranks);
  }

  void add(const Variant& variant) {
    if (!unsuitable(algorithm_, variant.shape, variant.params).empty()) return;
    for (const Variant& v : all)
      if (v.shape == variant.shape &&
          resolved(algorithm_, v.shape, v.params) == resolved(algorithm_, variant.shape, variant.params))
        return;
    all.push_back(variant);
  }

  void collect() {
    const Rank ranks = default_.shape.ranks;
    std::mt19937 random(static_cast<std::uint32_t>(ranks));
    if (algorithm_.needs.counts) default_.shape.counts = random_counts(random, ranks, 3);
    add(default_);
    // Other roots meet the default only.
    if (facts(algorithm_.collective).rooted && default_.shape.root != ranks / 3) return;
    if (!algorithm_.parameter.name.empty())
      for (const std::int64_t value : {1, 2, 3, 4, 5, 7, 8, static_cast<int>(ranks) - 1, static_cast<int>(ranks)})
        if (value >= algorithm_.parameter.least) add_with(value, {});
    for (int i = 0; i < 3; ++i) {
      if (algorithm_.list == "skips") add_with(0, random_skips(random, ranks));
      if (algorithm_.list == "order") add_with(0, random_order(random, ranks));
      if (algorithm_.list == "radices") add_with(0, random_radices(random, ranks));
    }
    if (facts(algorithm_.collective).neighbourhood) collect_graphs(random);
    if (algorithm_.list == "nodes")
      for (const int kind : {0, 1, 2, 3, 4, 5, 6}) add_with(0, random_nodes(random, ranks, kind));
    if (algorithm_.needs.counts)
      for (const int kind : {0, 1, 2, 3, 4}) {
        Variant v = default_;
        v.shape.counts = random_counts(random, ranks, kind);
        add(v);
      }
  }

  std::vector<Variant> all;

 private:
  /// A line, tori and grids of two and three dimensions, stencils, and random ones; each with a list of its own.
  void collect_graphs(std::mt19937& random) {
    const Rank ranks = default_.shape.ranks;
    const std::vector<Rank> square = near_square(ranks);
    const std::vector<Rank> half = near_square(square[1]);
    const std::string flat = std::to_string(square[0]) + 'x' + std::to_string(square[1]);
    const std::string deep = std::to_string(half[0]) + 'x' + std::to_string(square[0]) + 'x' + std::to_string(half[1]);
    for (const std::string& text :
         {"grid=" + std::to_string(ranks), "torus=" + flat, "grid=" + flat, "torus=" + deep, "stencil=" + deep,
          std::string("random=1"), std::string("random=3"), std::string("random=9")}) {
      Variant v = default_;
      v.shape.graph = parse_graph(text, ranks);
      add(v);
      if (algorithm_.list == "nodes") v.params.list = random_nodes(random, ranks, static_cast<int>(all.size() % 7));
      if (algorithm_.list == "dims") v.params.list = {half[0], square[0], half[1]};
      add(v);
    }
  }

  void add_with(std::int64_t value, const std::vector<Rank>& list) {
    Variant v = default_;
    v.params.value = value;
    v.params.list = list;
    add(v);
  }

  const Algorithm& algorithm_;
  Variant default_;
};

template <typename Number>
std::string joined(std::string_view name, const std::vector<Number>& numbers) {
  std::string text(name);
  for (std::size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? '=' : ':') + std::to_string(numbers[i]);
  return text;
}

}  // namespace

std::vector<Variant> variants(const Algorithm& algorithm, Rank ranks, Rank root) {
  Collector collector(algorithm, ranks, root);
  collector.collect();
  return std::move(collector.all);
}

std::string to_text(const Variant& variant, const Algorithm& algorithm) {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : ",") + word; };
  if (variant.params.value != 0)
    add(std::string(algorithm.parameter.name) + '=' + std::to_string(variant.params.value));
  if (!variant.params.list.empty()) add(joined(algorithm.list, variant.params.list));
  if (variant.shape.graph) add(variant.shape.graph->name());
  if (!variant.shape.counts.empty()) add(joined("counts", variant.shape.counts));
  return text;
}

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#include "parts.hpp"

#include <algorithm>
#include <numeric>

namespace stretto::differential {
namespace {

/// Equal, falling, all in one, with zeros, or any.
std::vector<int> distribution(int parts, int base, Random& random) {
  const int kind = random.below(6);
  const int special = random.below(parts);
  std::vector<int> counts(static_cast<std::size_t>(parts), base);
  for (int i = 0; i < parts; ++i) {
    int& count = counts[static_cast<std::size_t>(i)];
    const bool hit = random.percent(50);
    const int any = random.between(0, std::min(2 * base, 1 << 20));
    switch (kind) {
      case 0: break;
      case 1: count = 2 * base * (parts - i) / (parts + 1); break;
      case 2: count = i == special ? base * parts : 0; break;
      case 3: count = hit ? base : 0; break;
      case 4: count = i == special ? 0 : base; break;
      default: count = any; break;
    }
  }
  return counts;
}

std::vector<int> random_order(std::size_t n, Random& random) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = n; i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  return order;
}

std::vector<int> order_of(std::size_t n, Random& random) {
  const bool shuffled = random.percent(50);
  std::vector<int> order = random_order(n, random);
  if (!shuffled) std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

PartCounts::PartCounts(const Form& form, int ranks, int columns, bool in_place, int base, Random& random)
    : pairwise_(form.pairwise() && form.irregular()),
      by_sender_(form.receive.part_for_each_rank),
      columns_(static_cast<std::size_t>(columns)) {
  if (!form.irregular()) {
    counts_ = {base};
    return;
  }
  const int lists = pairwise_ ? ranks : 1;
  for (int i = 0; i < lists; ++i) {
    const std::vector<int> list = distribution(pairwise_ ? columns : ranks, base, random);
    counts_.insert(counts_.end(), list.begin(), list.end());
  }
  if (!pairwise_ || !in_place) return;
  // In place as much goes as comes.
  for (std::size_t a = 0; a < columns_; ++a)
    for (std::size_t b = 0; b < a; ++b) counts_[a * columns_ + b] = counts_[b * columns_ + a];
}

int PartCounts::at(int from, int to) const {
  if (counts_.size() == 1) return counts_[0];
  const auto sender = static_cast<std::size_t>(from);
  const auto receiver = static_cast<std::size_t>(to);
  return pairwise_ ? counts_[sender * columns_ + receiver] : counts_[by_sender_ ? sender : receiver];
}

std::vector<std::ptrdiff_t> regular_places(const std::vector<int>& counts) {
  std::vector<std::ptrdiff_t> places;
  std::ptrdiff_t at = 0;
  for (const int count : counts) {
    places.push_back(at);
    at += count;
  }
  return places;
}

std::vector<std::ptrdiff_t> random_places(const std::vector<int>& counts, Random& random) {
  if (random.percent(30)) return regular_places(counts);
  std::vector<std::ptrdiff_t> places(counts.size());
  std::ptrdiff_t at = random.between(-4, 4);
  for (const int i : order_of(counts.size(), random)) {
    at += random.percent(50) ? random.below(4) : 0;
    places[static_cast<std::size_t>(i)] = at;
    at += counts[static_cast<std::size_t>(i)];
  }
  return places;
}

std::vector<std::ptrdiff_t> random_places(const std::vector<ModelPointer>& models, const std::vector<int>& counts,
                                          Random& random) {
  constexpr std::ptrdiff_t unit = 32;  // fits all alignments
  const auto round_up = [](std::ptrdiff_t n) { return n >= 0 ? (n + unit - 1) / unit * unit : n / unit * unit; };
  std::vector<std::ptrdiff_t> places(counts.size());
  std::ptrdiff_t at = unit * random.between(-4, 4);
  for (const int index : order_of(counts.size(), random)) {
    const auto i = static_cast<std::size_t>(index);
    at += unit * random.below(3);
    places[i] = round_up(at - models[i]->low(counts[i]));
    at = places[i] + models[i]->high(counts[i]);
  }
  return places;
}

}  // namespace stretto::differential

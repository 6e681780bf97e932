// SPDX-License-Identifier: BSD-3-Clause
//
// Recursive multiplying: ranks that differ in one digit of a mixed-radix number exchange whole vectors, k of them at
// once. Low digits come first, so the group's partial results cover intervals of ranks, and every rank combines the k
// vectors in rank order: all get the same expression.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "algorithms/patterns/halving.hpp"

namespace stretto::patterns {

/// Factors from 2 to `radix` of the largest possible number that is not above `ranks`; large ones first.
inline std::vector<Rank> radices(Rank ranks, std::int64_t radix) {
  for (Rank product = ranks;; --product) {
    std::vector<Rank> factors;
    Rank left = product;
    for (Rank k = static_cast<Rank>(std::min<std::int64_t>(radix, left)); k > 1; --k)
      for (; left % k == 0; left /= k) factors.push_back(k);
    if (left == 1) return factors;
  }
}

/// The call's own factors, first that of the nearest ranks, or radices() up to its radix.
inline std::vector<Rank> given_radices(const Shape& shape, const Params& params) {
  return params.list.empty() ? radices(shape.ranks, params.value) : params.list;
}

/// `misfit` of an algorithm that takes the list "radices".
inline std::string radices_misfit(const Shape& shape, const Params& params) {
  std::int64_t product = 1;
  for (const Rank k : params.list) {
    if (k < 2) return "radix " + std::to_string(k) + " in the list: each is at least 2";
    product *= k;
    if (product > shape.ranks) return "the radices make more than " + std::to_string(shape.ranks) + " ranks";
  }
  if (params.list.empty() || 2 * product >= shape.ranks) return {};
  return "the radices make " + std::to_string(product) + " of " + std::to_string(shape.ranks) +
         " ranks: at most half can be left over";
}

inline Rank product(const std::vector<Rank>& factors) {
  return std::accumulate(factors.begin(), factors.end(), Rank{1}, std::multiplies<>());
}

/// One stage: ranks me - g·distance + j·distance, j = 0 … k-1, of which I am number g, exchange what is in `mine`, and
/// all get the reduction in their output. The others' vectors arrive in k - 1 scratch slots from `arrived` on.
inline void exchange_and_combine(Builder& b, Rank k, Rank distance, const Ranges& mine, Block arrived) {
  const Rank g = b.rank() / distance % k;
  const auto vector = [&](Rank j) { return j == g ? mine : scratch(arrived + j - (j > g ? 1 : 0)); };
  b.round();
  for (Rank i = 1; i < k; ++i) b.send(b.rank() + ((g + i) % k - g) * distance, mine);
  for (Rank i = 1; i < k; ++i) {
    const Rank j = (g + k - i) % k;
    b.receive(b.rank() + (j - g) * distance, vector(j));
  }
  b.round();  // what is sent may be overwritten only after it has left
  Ranges sum = vector(0);
  for (Rank j = 1; j < k; ++j) {
    const Ranges target = g == 0 || j == k - 1 ? output(0) : sum;
    if (j == g)
      b.reduce(sum, target, Side::left, mine);
    else
      b.reduce(vector(j), target, Side::right, sum);
    sum = target;
  }
}

/// Block 0 of all ranks' `from`, the input or the output, is reduced in rank order into every output. If the factors'
/// product is less than the number of ranks, pairs are folded first and the removed ranks get the result in the end.
inline void recursive_multiplying(Builder& b, const std::vector<Rank>& factors, Buffer from = Buffer::input) {
  const Ranges own{{from, 0, 1}};
  if (b.ranks() == 1) return b.copy(own, output(0));
  const Fold fold(b.ranks(), no_rank, product(factors));
  const bool paired = fold.paired(b.rank());
  const bool removed = fold.removed(b.rank());
  const Rank partner = b.rank() ^ 1;
  if (removed) b.send(partner, own);
  if (paired && !removed) b.receive_reduce(partner, output(0), Side::right, own);
  b.in_group(fold.kept(b.rank()), [&](Builder& group) {
    const Block arrived = group.new_scratch(0, 1);
    for (Rank k = 2; k < *std::max_element(factors.begin(), factors.end()); ++k) group.new_scratch(0, 1);
    Rank distance = 1;
    for (const Rank k : factors) {
      exchange_and_combine(group, k, distance, paired || distance > 1 ? output(0) : own, arrived);
      distance *= k;
    }
  });
  b.round();
  if (removed) b.receive(partner, output(0));
  if (paired && !removed) b.send(partner, output(0));
}

/// Rounds of recursive_multiplying().
inline std::int64_t multiplying_rounds(Rank ranks, const std::vector<Rank>& factors) {
  return static_cast<std::int64_t>(factors.size()) + (product(factors) < ranks ? 2 : 0);
}

/// Vectors: the factors, each less 1, and `folding` if there are ranks left over: 2 sent, 1 combined.
inline std::int64_t multiplying_vectors(Rank ranks, const std::vector<Rank>& factors, std::int64_t folding) {
  std::int64_t total = product(factors) < ranks ? folding : 0;
  for (const Rank k : factors) total += k - 1;
  return total;
}

}  // namespace stretto::patterns

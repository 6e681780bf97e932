// SPDX-License-Identifier: BSD-3-Clause
//
// What the checker computes with: instead of numbers, the expressions that would give them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "stretto/types.hpp"

namespace stretto::checking {

using Expression = std::int32_t;  ///< equal expressions have equal numbers
inline constexpr Expression no_expression = -1;

/// Every expression once: the contribution of a rank to a block, or left ∘ right of one block.
class Expressions {
 public:
  explicit Expressions(Rank ranks) : ranks_(ranks), words_((static_cast<std::size_t>(ranks) + 63) / 64) {}

  Expression contribution(Rank rank, Block block);
  /// Both are of the same block and share no contribution.
  Expression combined(Expression left, Expression right);

  bool share_contribution(Expression a, Expression b) const;
  /// The contributions of left ∘ right are those of neighbouring ranks, in rank order.
  bool in_order(Expression left, Expression right) const;
  /// Are its contributors exactly these ranks?
  bool is_of(Expression e, Rank first, Rank last) const {
    return node(e).first == first && node(e).last == last && node(e).contributions == last - first + 1;
  }
  bool is_contribution(Expression e) const { return node(e).left == no_expression; }
  Rank first_rank(Expression e) const { return node(e).first; }
  Block block(Expression e) const { return node(e).block; }

  /// In the order of the operands.
  void add_operands(Expression e, std::vector<Rank>& ranks) const;
  std::vector<Rank> shared_contributors(Expression a, Expression b) const;
  std::vector<Rank> missing_contributors(Expression e, Rank first, Rank last) const;
  /// With its brackets: "((0 . 1) . 2)"; long ones are cut.
  std::string text(Expression e) const;

 private:
  struct Node {
    Expression left, right;
    Block block;
    Rank first, last;  // lowest and highest contributor
    Rank contributions;
    bool ordered;  // contributors first … last, in this order
  };

  const Node& node(Expression e) const { return nodes_[static_cast<std::size_t>(e)]; }
  const std::uint64_t* set(Expression e) const { return sets_.data() + static_cast<std::size_t>(e) * words_; }
  bool has(Expression e, Rank rank) const { return (set(e)[rank / 64] >> (rank % 64) & 1) != 0; }
  void write(Expression e, std::string& text) const;

  Rank ranks_;
  std::size_t words_;
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> sets_;  // of contributors, words_ for each node
  std::unordered_map<std::uint64_t, Expression> known_;
};

}  // namespace stretto::checking

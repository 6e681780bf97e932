// SPDX-License-Identifier: BSD-3-Clause
#include "check/expressions.hpp"

#include <algorithm>
#include <cassert>

namespace stretto::checking {
namespace {

constexpr std::size_t longest_text = 80;

std::uint64_t key(std::int32_t left, std::int32_t right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

Expression Expressions::contribution(Rank rank, Block block) {
  // Left operands are never negative, so that contributions have keys of their own.
  const auto [at, is_new] =
      known_.try_emplace(key(-1 - rank, static_cast<std::int32_t>(block)), static_cast<Expression>(nodes_.size()));
  if (is_new) {
    nodes_.push_back({no_expression, no_expression, block, rank, rank, 1, true});
    sets_.resize(sets_.size() + words_);
    sets_[sets_.size() - words_ + static_cast<std::size_t>(rank) / 64] = std::uint64_t{1} << (rank % 64);
  }
  return at->second;
}

Expression Expressions::combined(Expression left, Expression right) {
  const auto [at, is_new] = known_.try_emplace(key(left, right), static_cast<Expression>(nodes_.size()));
  if (is_new) {
    const Node l = node(left), r = node(right);
    assert(l.block == r.block && !share_contribution(left, right));
    nodes_.push_back({left, right, l.block, std::min(l.first, r.first), std::max(l.last, r.last),
                      l.contributions + r.contributions, in_order(left, right)});
    sets_.resize(sets_.size() + words_);
    std::uint64_t* both = sets_.data() + sets_.size() - words_;
    for (std::size_t w = 0; w < words_; ++w) both[w] = set(left)[w] | set(right)[w];
  }
  return at->second;
}

bool Expressions::share_contribution(Expression a, Expression b) const {
  for (std::size_t w = 0; w < words_; ++w)
    if ((set(a)[w] & set(b)[w]) != 0) return true;
  return false;
}

bool Expressions::in_order(Expression left, Expression right) const {
  return node(left).ordered && node(right).ordered && node(left).last + 1 == node(right).first;
}

void Expressions::add_operands(Expression e, std::vector<Rank>& ranks) const {
  for (; !is_contribution(e); e = node(e).right) add_operands(node(e).left, ranks);
  ranks.push_back(first_rank(e));
}

std::vector<Rank> Expressions::shared_contributors(Expression a, Expression b) const {
  std::vector<Rank> ranks;
  for (Rank r = 0; r < ranks_; ++r)
    if (has(a, r) && has(b, r)) ranks.push_back(r);
  return ranks;
}

std::vector<Rank> Expressions::missing_contributors(Expression e, Rank first, Rank last) const {
  std::vector<Rank> ranks;
  for (Rank r = first; r <= last; ++r)
    if (!has(e, r)) ranks.push_back(r);
  return ranks;
}

void Expressions::write(Expression e, std::string& text) const {
  if (text.size() > longest_text) return;
  if (is_contribution(e)) {
    text += std::to_string(first_rank(e));
    return;
  }
  text += '(';
  write(node(e).left, text);
  text += " . ";
  write(node(e).right, text);
  text += ')';
}

std::string Expressions::text(Expression e) const {
  std::string text;
  write(e, text);
  if (text.size() > longest_text) text = text.substr(0, longest_text) + "...";
  return text;
}

}  // namespace stretto::checking

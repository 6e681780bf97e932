// SPDX-License-Identifier: BSD-3-Clause
//
// Prefix reductions on a binary tree whose in-order walk is 0 … p-1. Totals of subtrees go up, prefixes come down; of
// each, only what a later rank needs. Works in place: the input is read for the last time before the output is written.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/patterns/clock.hpp"
#include "algorithms/patterns/in_order.hpp"
#include "algorithms/patterns/scan.hpp"

namespace stretto::patterns {

/// A rank in the balanced in-order tree: one with a left child has a right one.
struct MiddlePlace : InOrderSubtree {
  Rank left = no_rank, right = no_rank;
  bool up;    ///< ranks behind the subtree wait for its total
  bool down;  ///< there are ranks before the subtree

  MiddlePlace(Rank rank, Rank ranks) : InOrderSubtree(rank, ranks, middle(0, ranks)), up(end < ranks), down(first > 0) {
    if (rank > first) left = middle(first, rank);
    if (rank + 1 < end) right = middle(rank + 1, end);
  }
  bool has_left() const { return left != no_rank; }
  bool has_right() const { return right != no_rank; }
};

class TreeScan {
 public:
  TreeScan(Builder& b, bool inclusive) : b_(b), at_(b.rank(), b.ranks()), inclusive_(inclusive), work_(b) {}

  void build() {
    gather_totals();
    result_ = inclusive_ ? through_ : before_;
    if (at_.down) {
      b_.round();
      if (inclusive_)
        receive_prefix();
      else
        receive_exclusive_prefix();
      b_.round();
    }
    if (at_.down && at_.has_left()) b_.send(at_.left, work_());
    if (at_.has_right()) b_.send(at_.right, through_);
    b_.round();
    if (!result_.empty()) b_.copy(result_, output(0));
  }

 private:
  /// Totals of both subtrees arrive, and the one of all of mine leaves.
  void gather_totals() {
    if (at_.has_left() && inclusive_) {
      through_ = output(0);
      b_.receive_reduce(at_.left, through_, Side::left, input(0));
    } else if (at_.has_left()) {
      before_ = scratch(b_.new_scratch(0, 1));
      through_ = scratch(b_.new_scratch(0, 1));
      b_.receive(at_.left, before_);
      b_.reduce(before_, through_, Side::left, input(0));
    }
    if (at_.up && at_.has_right()) b_.receive_reduce(at_.right, work_(), Side::right, through_);
    b_.round();
    if (at_.up) b_.send(at_.parent, at_.has_right() ? work_() : through_);
  }

  void receive_prefix() {
    result_ = output(0);
    if (at_.has_left()) {  // it waits for the prefix, too
      b_.receive(at_.parent, work_());
      b_.reduce(work_(), result_, Side::left, through_);
    } else {
      b_.receive_reduce(at_.parent, result_, Side::left, through_);
    }
    through_ = result_;
  }

  void receive_exclusive_prefix() {
    result_ = at_.has_right() ? work_() : output(0);
    b_.receive(at_.parent, result_);
    if (!at_.has_right()) return;
    const Ranges next = at_.has_left() ? through_ : scratch(b_.new_scratch(0, 1));
    b_.reduce(work_(), next, Side::left, through_);
    through_ = next;
    if (!at_.has_left()) return;
    b_.reduce(work_(), output(0), Side::left, before_);
    result_ = output(0);
  }

  Builder& b_;
  const MiddlePlace at_;
  const bool inclusive_;
  LazySlot work_;              // the total of my subtree on its way up, then the prefix on its way down
  Ranges before_;              // the total of the left subtree (exclusive only)
  Ranges through_ = input(0);  // that and my own contribution; in the end with the prefix
  Ranges result_;
};

/// Rounds, blocks sent and blocks combined along the longest chains of a TreeScan.
class TreeScanCost {
 public:
  TreeScanCost(Rank ranks, bool inclusive)
      : ranks_(ranks),
        inclusive_(inclusive),
        gathered_(static_cast<std::size_t>(ranks)) {
    const Rank root = MiddlePlace::middle(0, ranks);
    gather(root);
    spread(root, {});
  }
  const Clock& longest() const { return longest_; }

 private:
  /// A round, if there are messages in it.
  static void add(Clock& clock, int messages, int combines) {
    if (messages > 0) clock.pass(messages);
    clock.combined += combines;
  }

  const Clock& gather(Rank rank) {
    const MiddlePlace at(rank, ranks_);
    const bool from_right = at.up && at.has_right();
    Clock clock;
    if (at.has_left()) clock.wait_for(gather(at.left));
    if (at.has_right()) {
      const Clock& right = gather(at.right);
      if (from_right) clock.wait_for(right);
    }
    const int messages = (at.has_left() ? 1 : 0) + (from_right ? 1 : 0);
    add(clock, messages, messages);
    return gathered_[static_cast<std::size_t>(rank)] = clock;
  }

  /// `parent`: when the parent's round of sending down begins.
  void spread(Rank rank, const Clock& parent) {
    const MiddlePlace at(rank, ranks_);
    Clock clock = gathered_[static_cast<std::size_t>(rank)];
    const int sends = (at.down && at.has_left() ? 1 : 0) + (at.has_right() ? 1 : 0);
    if (at.down) {
      if (at.up) add(clock, 1, 0);
      clock.wait_for(parent);
      add(clock, 1, inclusive_ ? 1 : (at.has_left() ? 1 : 0) + (at.has_right() ? 1 : 0));
    }
    const Clock begin = clock;
    add(clock, sends + (at.up && !at.down ? 1 : 0), 0);
    longest_.wait_for(clock);
    if (at.has_left()) spread(at.left, begin);
    if (at.has_right()) spread(at.right, begin);
  }

  Rank ranks_;
  bool inclusive_;
  std::vector<Clock> gathered_;  // by rank: when its total can leave
  Clock longest_;
};

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// How an algorithm writes its schedule down.
#pragma once

#include <functional>
#include <span>

#include "stretto/schedule.hpp"

namespace stretto {

/// Some ranks of a group in an order of their own, without a list of them: schedules of many ranks are built one by
/// one.
struct Members {
  Rank count;
  Rank place;                         ///< mine among them, or no_rank
  std::function<Rank(Rank)> rank_at;  ///< which rank of the present group has a place
};

/// Writes one rank's schedule round by round. Peers are ranks of the present group.
///
/// Copies of nothing, and of blocks onto themselves, vanish: an algorithm need not ask. Messages of no blocks stay
/// (a barrier is made of them).
class Builder {
 public:
  Builder(Rank rank, Rank ranks, Block blocks);

  Rank rank() const { return rank_; }    ///< mine, in the present group
  Rank ranks() const { return ranks_; }  ///< of the present group
  Block blocks() const { return schedule_.blocks; }

  /// Ends the round and begins the next. Rounds without anything in them vanish.
  void round();
  void send(Rank peer, const Ranges& blocks);
  void receive(Rank peer, const Ranges& target);
  /// target = message ∘ operand if `message` is left, operand ∘ message if it is right.
  void receive_reduce(Rank peer, const Ranges& target, Side message, const Ranges& operand);
  void receive_reduce(Rank peer, const Ranges& target, Side message) { receive_reduce(peer, target, message, target); }
  void copy(const Ranges& source, const Ranges& target);
  void reduce(const Ranges& source, const Ranges& target, Side side, const Ranges& operand);

  /// New scratch slots as large as blocks first … first+count-1 of the vector; returns the first slot.
  Block new_scratch(Block first, Block count);

  using Body = std::function<void(Builder&)>;
  /// Runs `body(builder)` in the group `members` (ranks of the present group, in order), if I am one of them:
  /// this is how an algorithm is used on some of the ranks.
  void in_group(std::span<const Rank> members, const Body& body);
  void in_group(const Members& members, const Body& body);
  /// Runs `body(builder)` with its block 0 standing for block `first`, in all buffers but scratch: this is how an
  /// algorithm is used on some of the blocks.
  void in_blocks(Block first, const Body& body);

  Schedule finish();

 private:
  Rank world(Rank peer) const { return world_ ? world_(peer) : peer; }
  Slice store(const Ranges& ranges);

  Schedule schedule_;
  Rank rank_;
  Rank ranks_;
  Block offset_ = 0;
  std::function<Rank(Rank)> world_;  // from ranks of the present group; empty: it is all
};

}  // namespace stretto

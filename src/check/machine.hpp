// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks as state machines under rendezvous, with expressions for numbers.
//
// On entering a round a rank posts the round's sends, whose content is taken then, and its receives. When a message for
// each receive has been posted, the actions are worked through; when moreover each of its sends has met a posted
// receive, the rank enters the next round. What a rank may then compute does not depend on who moves first.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "check/expressions.hpp"
#include "stretto/check.hpp"

namespace stretto::checking {

inline std::size_t index(std::int64_t n) { return static_cast<std::size_t>(n); }

using Location = std::int64_t;  ///< where a slot of one rank lies; aliased slots lie at one location

/// The locations of one rank, numbered from 0.
class Layout {
 public:
  Layout(const Schedule& schedule, const Question& question)
      : schedule_(&schedule),
        question_(&question),
        blocks_(schedule.blocks),
        aliased_(question.in_place && may_alias(question.collective) &&
                 (!facts(question.collective).rooted || schedule.rank == question.shape.root)) {}

  Location size() const { return 2 * blocks_ + static_cast<Location>(schedule_->scratch.size()); }

  Location of(Buffer buffer, Block slot) const {
    if (buffer == Buffer::scratch) return 2 * blocks_ + slot;
    return buffer == Buffer::output || aliased_ ? blocks_ + slot : slot;
  }

  /// The block that the slot holds.
  Block block(Location at) const {
    if (at < 2 * blocks_)
      return block_of(question_->collective, question_->shape, schedule_->rank,
                      at < blocks_ ? Buffer::input : Buffer::output, at < blocks_ ? at : at - blocks_);
    return schedule_->scratch[static_cast<std::size_t>(at - 2 * blocks_)];
  }

  void locate(std::span<const Range> ranges, std::vector<Location>& to) const {
    to.clear();
    for (const Range& r : ranges)
      for (Block slot = r.first; slot < r.first + r.count; ++slot) to.push_back(of(r.buffer, slot));
  }

  /// "output[2]"
  std::string name(Location at) const {
    if (at < blocks_) return "input[" + std::to_string(at) + ']';
    if (at < 2 * blocks_) return "output[" + std::to_string(at - blocks_) + ']';
    return "scratch[" + std::to_string(at - 2 * blocks_) + ']';
  }

 private:
  const Schedule* schedule_;
  const Question* question_;
  Block blocks_;
  bool aliased_;
};

/// Refuses as malformed what is wrong without running anything: peers, slots and buffers that do not exist, writes to
/// the input, operands that do not fit their target. Everything that runs schedules afterwards relies on it.
void check_form(std::span<const Schedule> schedules, const Question& question);

/// Which receive takes which message: the k-th from one rank to another goes to the k-th receive there for that rank.
/// Sends are numbered through all ranks, and so are actions.
struct Matching {
  static constexpr std::int64_t none = -1;

  std::vector<std::int64_t> first_send, first_action;  ///< of every rank, and one more for the end
  std::vector<std::int64_t> action_of_send;
  std::vector<std::int64_t> send_of_action;

  std::int64_t send(Rank rank, std::size_t index) const {
    return first_send[checking::index(rank)] + static_cast<std::int64_t>(index);
  }
  std::int64_t action(Rank rank, std::size_t index) const {
    return first_action[checking::index(rank)] + static_cast<std::int64_t>(index);
  }
};

/// Is told of what a machine does; within a round, first of begin_round().
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void begin_round(Rank rank, std::int64_t step_at_end) = 0;
  virtual void combined(Rank rank, Location at) = 0;  ///< an operand
  /// `received_by`: the number of the plain receive that did; Matching::none if none.
  virtual void wrote(Rank rank, Location at, Expression e, std::int64_t received_by) = 0;
  virtual void end_round(Rank rank) = 0;
};

class Machine {
 public:
  /// The schedules have passed check_form() for the question.
  Machine(std::span<const Schedule> schedules, const Question& question, Watcher* watcher = nullptr);
  /// Follows rounds and messages only.
  explicit Machine(std::span<const Schedule> schedules);

  /// Runs all ranks to their ends; throws Refused.
  void run();

  const Expressions& expressions() const { return expressions_; }
  const Layout& layout(Rank rank) const { return layouts_[static_cast<std::size_t>(rank)]; }
  /// All messages, when all ranks are at their ends. `at_once`, of every action: has another action of the same step
  /// combined what it received?
  std::vector<Delivery> deliveries(std::span<const char> at_once = {}) const;
  /// Of everything sent, as Delivery::blocks names it.
  std::vector<Block> sent_blocks() const;
  /// What stands in a slot of the output.
  Expression output(Rank rank, Block block) const {
    return values_[index(rank)][index(layout(rank).of(Buffer::output, block))];
  }
  /// In a barrier: has `rank` a message that `other` caused?
  bool has_heard(Rank rank, Rank other) const {
    return (heard_[index(rank) * heard_words_ + index(other) / 64] >> other % 64 & 1) != 0;
  }

  Measured measured;
  std::vector<std::vector<std::int64_t>> round_ends;

 private:
  /// Three clocks at once: one counts rounds, one blocks sent, one blocks combined. They are the cost of the longest
  /// chain of rounds when only latency, only bandwidth, or only reduction takes time; ports are single and two-way.
  struct Chain {
    std::int64_t rounds = 0, sent = 0, combined = 0;
    void wait_for(const Chain& other);
  };
  struct State {
    std::size_t round = 0;
    Chain chain;                // when the round began
    std::int64_t unsent = 0;    // receives of the round without a message so far
    std::int64_t untaken = 0;   // sends of the round without a receive so far
    bool entered = false;       // has posted the sends and receives of the round
    bool acted = false;         // has worked through the actions of the round
    std::int64_t combined = 0;  // blocks, in the round
  };
  struct Message {
    std::size_t first = 0, count = 0;  // of contents_
    Chain chain;                       // when the round of the sender began
    bool posted = false;
  };
  struct Wait {
    Rank peer;
    bool for_message;    // else for a receive
    std::int64_t other;  // number of the peer's send or receive; Matching::none if there is no such thing
  };

  void fill_inputs(const Question& question);
  void advance(Rank rank);
  void enter(Rank rank);
  void store(Rank rank, Location at, Expression e, std::int64_t received_by = Matching::none);
  void post_send(Rank rank, std::size_t index);
  void post_receive(Rank rank, std::size_t index);
  void act(Rank rank);
  void mark_hazards(Rank rank, const Round& now);
  void receive(Rank rank, std::size_t action);
  void reduce(Rank rank, std::size_t action);
  [[noreturn]] void refuse_message(Rank rank, std::size_t action) const;
  Chain end_of_round(Rank rank) const;
  Expression held(Rank rank, Location at, const char* verb) const;
  Expression read(Rank rank, std::size_t action, Location at, const char* verb) const;
  void write(Rank rank, std::size_t action, Location at, Expression e);
  void touch(Rank rank, std::size_t action, Location at, const char* verb) const;
  Expression combine(Rank rank, Location target, Expression left, Expression right);
  std::int64_t send_taken_by(Rank rank, std::size_t action) const {
    return matching_.send_of_action[index(matching_.action(rank, action))];
  }
  [[noreturn]] void refuse_hang() const;
  std::vector<Wait> waits(Rank rank) const;
  std::size_t round_of_send(Rank rank, std::int64_t number) const;
  std::size_t round_of_action(Rank rank, std::int64_t number) const;

  bool done(Rank rank) const { return state(rank).round == schedule(rank).rounds.size(); }
  const Schedule& schedule(Rank rank) const { return schedules_[static_cast<std::size_t>(rank)]; }
  const State& state(Rank rank) const { return states_[static_cast<std::size_t>(rank)]; }
  State& state(Rank rank) { return states_[static_cast<std::size_t>(rank)]; }
  const Round& round(Rank rank) const { return schedule(rank).rounds[state(rank).round]; }
  std::uint64_t* heard(Rank rank) { return heard_.data() + static_cast<std::size_t>(rank) * heard_words_; }

  std::span<const Schedule> schedules_;
  bool commutative_ = false;
  Watcher* watcher_ = nullptr;
  Matching matching_;
  Expressions expressions_;
  std::vector<Layout> layouts_;                  // none where only rounds and messages are followed
  std::vector<std::vector<Expression>> values_;  // of every rank and location
  std::vector<State> states_;
  std::vector<Rank> ready_;           // may be able to advance
  std::vector<Message> messages_;     // of every send
  std::vector<Expression> contents_;  // of all messages
  std::vector<char> receive_posted_;  // of every action
  std::size_t heard_words_ = 0;       // 0 but in a barrier
  std::vector<std::uint64_t> heard_;  // for every rank, the set of those it has heard from
  std::vector<std::uint64_t> told_;   // for every send, that set of the sender when it was posted

  // Hazards of the round that is acted, by location; a mark of another round is stale.
  struct Marks {
    std::int64_t sent_in = 0;      // the round that sends it
    std::int64_t received_in = 0;  // the round that receives into it,
    std::size_t received_by = 0;   // and the action
  };
  std::vector<Marks> marks_;
  std::int64_t acted_rounds_ = 0;
  std::vector<Location> targets_, sources_, operands_;  // of the action at work
  std::vector<Expression> results_;
};

}  // namespace stretto::checking

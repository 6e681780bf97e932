// SPDX-License-Identifier: BSD-3-Clause
//
// Which of a few candidates serves the calls of one class best, found out on these calls. No MPI here: whoever makes
// the calls asks which candidate the next one takes, and tells the times that all ranks agreed on. Equal times lead to
// equal answers, so that all ranks go on alike without another word.
//
// One candidate is current: it serves all calls but those of rounds. In a round the current one and a challenger take
// turns, and each pair of turns gives a ratio of their times: what slows the machine down for a while slows both. A
// turn is one call, until it is known that the challenger is not far behind; then it may be several in a row, for where
// some ranks run ahead, one call's time does not tell what each of many takes. Rounds stand so far apart that what they
// cost remains a small share of the time of all calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace stretto::learn {

/// How much trying may cost, and when it begins.
struct Limits {
  /// Calls before the first round.
  std::uint32_t first_round(bool native_serves) const { return native_serves ? before : native_before; }

  double share = 0.02;               ///< of the time of the class's calls, that trying may add
  std::uint32_t native_before = 16;  ///< calls before the native function is tried, which may cost what it will
  std::uint32_t before = 250;    ///< … before any other is: share · before pays one call that takes six times as long
  std::uint32_t check = 4096;    ///< calls from the end of the comparison to the first look whether it still holds
  std::uint32_t rarest = 65536;  ///< between later looks
  std::uint32_t in_a_row = 1;    ///< calls of a turn of those that are not far behind …
  double longest_turn = 0.1;     ///< … if they take at most so many seconds
};

/// What a round decided, for people.
enum class Event : std::uint8_t {
  none,
  better,    ///< the challenger is current now
  worse,     ///< it was given up
  settled,   ///< likewise, and none is left
  holds,     ///< a look at a settled choice found no reason to change it
  reopened,  ///< such a look found one: all are compared anew
};

struct Verdict {
  Event event = Event::none;
  std::size_t challenger = 0;
  double ratio = 1;  ///< of the challenger's time to that of the one that was current: the median
  std::size_t pairs = 0;
};

class Comparison {
 public:
  /// Candidates 0, 1, … in the order in which they are to be tried. The first is the native function, than which
  /// nothing may be slower. `known`: `current` is known to be the best, and is only looked at now and then.
  Comparison(std::size_t candidates, std::size_t current, bool known, const Limits& limits = {});

  /// Calls that the current candidate serves before the next round; whoever makes them counts them down. At 0 the next
  /// call is one of next_turn().
  std::uint32_t quiet = 0;

  struct Turn {
    std::size_t candidate = 0;
    bool first = false;       ///< of its round
    bool last = false;        ///< after it the times of the round are to be told by conclude()
    std::uint32_t calls = 1;  ///< that it consists of
  };
  /// What serves the next calls.
  Turn next_turn();
  /// After the last turn of a round. `seconds` is the time of a call of each, in order, of the slowest rank, or 0 where
  /// it cannot be told. `overhead` is what the round took beside its calls. All equal on all ranks.
  Verdict conclude(std::span<const double> seconds, double overhead);
  /// After the last turn of a round, before conclude(): the current candidate serves so many calls, whose times are not
  /// told, until those of the round are over.
  void wait(std::uint32_t calls) {
    quiet = calls;
    calls_ += calls;
  }
  /// When it has settled: so many candidates more are to be compared with the current one.
  void add(std::size_t more);
  /// Another communicator of this kind has found out: `current` is the best.
  void take_over(std::size_t current);

  std::size_t current() const { return current_; }
  /// Have all candidates been compared?
  bool settled() const { return left_.empty(); }
  /// Has anything been found out that is worth keeping?
  bool found() const { return found_; }
  /// The median of a candidate's times; 0: it has none.
  double seconds(std::size_t candidate) const;
  /// Calls of it that were timed, but for those beside a challenger.
  std::uint64_t timed(std::size_t candidate) const { return candidates_[candidate].timed; }
  /// Calls that it has served as the current one, with the few of challengers beside it.
  std::uint64_t served(std::size_t candidate) const;
  /// Pairs of turns that were timed.
  std::size_t pairs() const { return pairs_; }
  std::uint64_t calls() const { return calls_; }
  /// What trying has cost so far: of its calls what they took longer than the current candidate's, and the overhead.
  double spent() const;

 private:
  struct TimedTurn {
    double seconds, calls;  ///< the time of one call
  };
  /// Single calls, calls in a row: what a call takes may differ.
  template <typename T>
  using OfBoth = std::array<T, 2>;
  struct Candidate {
    std::vector<double> ratios;        ///< to the current one, of one kind of turns
    OfBoth<std::deque<double>> times;  ///< of a call, the last ones
    std::vector<TimedTurn> first;      ///< beside another one that was current
    bool begun = false;                ///< has it had a round?
    bool in_a_row = false;             ///< its turns are: single calls have shown that it is not far behind
    double excess = 0;                 ///< so much longer than that one's its calls took, in all
    std::uint64_t timed = 0;
    std::uint64_t served = 0;  ///< until another one became current
  };
  void make_current(std::size_t candidate);
  bool fit_in_a_row() const;
  void add_time(Candidate& candidate, double seconds);
  void keep_time(Candidate& candidate, double seconds) const;
  std::size_t kind() const { return turn_calls_ > 1 ? 1 : 0; }
  /// In so many pairs of this round after its first: the two change their order from pair to pair, and rounds of one
  /// pair theirs. What a call leaves behind for the next one is divided.
  bool challenger_first(std::size_t pair) const { return (pair + rounds_) % 2 == 1; }
  double overhead() const;
  std::size_t pairs_of_next() const;
  void plan_turns();
  bool compares_with_native() const { return !looking_ && challenger_ == 0; }
  void plan_round();
  void choose_challenger();
  Verdict judge();
  Verdict judge_look(const Verdict& so_far);
  void reopen();
  void finish();

  Limits limits_;
  std::vector<Candidate> candidates_;
  std::size_t current_;
  std::size_t challenger_ = 0;
  std::deque<std::size_t> left_;  ///< to be compared with the current one; the first is the challenger
  bool found_ = false;
  bool looking_ = false;  ///< at a settled choice
  bool doubted_ = false;  ///< by the last look
  std::size_t look_at_ = 0;
  std::uint32_t until_look_;
  OfBoth<double> when_settled_{};  ///< the current one's time then; 0: not known
  std::size_t round_pairs_ = 1;
  std::uint32_t turn_calls_ = 1;
  std::size_t turn_ = 0;  ///< of the round
  int vain_ = 0;          ///< rounds, the last ones, that told nothing
  std::size_t pairs_ = 0;
  std::uint64_t calls_ = 0;       ///< with those that are still quiet
  std::uint64_t since_ = 0;       ///< calls until the current one became it
  std::deque<double> overheads_;  ///< of the last rounds
  std::uint64_t rounds_ = 0;
  double first_overheads_ = 0;  ///< of the first round of each challenger
  int first_rounds_ = 0;
};

}  // namespace stretto::learn

// SPDX-License-Identifier: BSD-3-Clause
//
// The starts of one persistent request, which take turns among themselves: ranks may start their requests in different
// orders, but the nth start of a request is the same call on all of them, and a request is complete before its next
// start. So what ranks tell each other is a stage behind a call that takes no turn, and known when the next one starts.
#pragma once

#include <optional>

#include "learn/comparison.hpp"
#include "learn/round.hpp"

namespace stretto::learn {

class Starts {
 public:
  /// Of what they find out. `one_clock`: ranks read the same one; else a stage that they leave together begins a round.
  Starts(Comparison& comparison, Round& round, bool one_clock)
      : comparison_(comparison),
        round_(round),
        one_clock_(one_clock),
        candidate_(comparison.current()) {}

  /// Is the next start one like the last, of which nothing is asked? It is counted then.
  bool goes_on() {
    if (comparison_.quiet <= 1 || over_ || candidate_ != comparison_.current()) return false;
    --comparison_.quiet;
    timed_ = false;
    return true;
  }
  /// Else: what serves the next start.
  std::size_t next();
  /// Is the start that was last one of a round?
  bool timed() const { return timed_; }
  /// After next(): what this rank tells the others behind the call; nothing: it need not.
  std::vector<Moment> tells() const;
  /// Of a timed start.
  void set(Span span) {
    if (timed_) round_.set(call_, span);
  }
  /// They have told each other: from `begin` to `now`, `least` of all ranks' numbers. Nothing: that was no round.
  std::optional<Verdict> told(std::span<const Moment> least, Moment begin, Moment now);

 private:
  Comparison& comparison_;
  Round& round_;
  bool one_clock_;
  bool over_ = false;  ///< the round; its times are still to be told
  bool timed_ = false;
  std::size_t candidate_;
  std::size_t call_ = 0;  ///< of the round
  Moment zero_ = 0;       ///< of the next round: ranks with several clocks left the last stage together
  Moment telling_ = 0;    ///< what ranks took to tell each other something, at least
};

}  // namespace stretto::learn

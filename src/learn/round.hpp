// SPDX-License-Identifier: BSD-3-Clause
//
// The calls of a round of comparison: when this rank came to each and left it, and what the ranks make of that
// together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stretto::learn {

/// Nanoseconds.
using Moment = std::int64_t;

/// A moment that no rank can tell.
inline constexpr Moment unknown = std::numeric_limits<Moment>::max() / 4;

struct Span {
  Moment begin = unknown, end = unknown;
};

/// A call that returns at once. 0: it has not come to that, or nobody looked.
struct Watch {
  Moment posted = 0;    ///< the algorithm's first message could have left
  Moment returned = 0;  ///< what could be done at once was done
  Moment waited = 0;    ///< the program began to wait for its end
  Moment ended = 0;     ///< it was over
};

/// What the program waited for, with the time that posting took before it: what it computed in between does not count.
/// Unknown where it did not wait.
Span span_of(const Watch& watch);

class Round {
 public:
  /// `zero`: a moment that all ranks have in common.
  void begin(Moment zero);
  Moment zero() const { return zero_; }
  /// Which round of its class it is: a call may end when the next one has begun.
  std::uint64_t serial() const { return serial_; }
  bool empty() const { return spans_.empty(); }
  /// The next call of the round; it is not known yet how long it takes.
  std::size_t add();
  void set(std::size_t call, Span span);

  Moment beside = 0;  ///< of my calls what was not their work

  /// What this rank tells the others: of all ranks' the smallest ones, number by number, are for conclude(). `telling`
  /// is what it took last to tell something.
  std::vector<Moment> numbers(Moment telling) const;

  struct Outcome {
    std::vector<double> seconds;  ///< of a call of each turn, of the slowest rank; 0: not all could tell
    double overhead = 0;          ///< seconds
    std::size_t late = 0;         ///< so many calls at the end of the round cannot be told: they may not be over
  };
  /// Equal on all ranks; a turn is so many calls. A call's time is from when the last rank came to it until the last
  /// one left: so nobody's late arrival counts, nor that a rank left before the others.
  static Outcome conclude(std::span<const Moment> least, std::size_t calls_of_turn);

 private:
  Moment zero_ = 0;
  std::uint64_t serial_ = 0;
  std::vector<Span> spans_;
};

}  // namespace stretto::learn

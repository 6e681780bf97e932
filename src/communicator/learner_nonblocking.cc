// SPDX-License-Identifier: BSD-3-Clause
//
// Calls that return at once take turns as well. Nothing here waits: what ranks tell each other is a stage of the call
// that comes next, and when a call of a round ends does not matter, for its time counts if it is there by then.
#include "communicator/communicator.hpp"

namespace stretto::mpi {

std::vector<learn::Moment> Learner::tells(const Call& call) {
  if (fixed(call.function)) return {};
  CallClass& of = *class_of(call);
  const std::uint32_t* const left = counter(of, CountedAs::nonblocking);
  if (!left || *left > 0) return {};
  if (!of.opened) return {offer(of)};
  if (of.over) return of.round.numbers(telling_);
  // Ranks of several nodes have no clock in common: the end of this stage is taken for one moment.
  return of.round.empty() && !c_.one_node() ? std::vector<learn::Moment>{0} : std::vector<learn::Moment>{};
}

void Learner::told(const Call& call, std::span<const learn::Moment> least, learn::Moment begin) {
  CallClass& of = *class_of(call);
  const learn::Moment now = execute::now();
  // The program may have computed meanwhile.
  telling_ = telling_ > 0 ? std::min(telling_, now - begin) : now - begin;
  if (!of.opened)
    open(of, CountedAs::nonblocking, least[0]);
  else if (std::exchange(of.over, false))
    conclude(of, least);
  of.round.begin(c_.one_node() ? 0 : now);
}

const Decision* Learner::decide_nonblocking(CallClass& of, const Call& call) {
  learn::Comparison& comparison = of.comparison;
  std::uint32_t& left = *counter(of, CountedAs::nonblocking);
  taken_ = {};
  if (left > 0) {
    --left;
    return &decision(of, comparison.current(), call);
  }
  const learn::Comparison::Turn turn = comparison.next_turn();
  taken_.of_ = &of;
  taken_.round_ = of.round.serial();
  taken_.call_ = of.round.add();
  if (turn.last) {
    of.over = true;
    comparison.wait(static_cast<std::uint32_t>(of.patience));
  }
  return &decision(of, turn.candidate, call);
}

void Learner::Turn::tell(learn::Span span) {
  if (of_ && of_->round.serial() == round_) of_->round.set(call_, span);
}

}  // namespace stretto::mpi

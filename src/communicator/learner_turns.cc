// SPDX-License-Identifier: BSD-3-Clause
//
// Calls that return at once take turns as well, and so do starts of a persistent request.
#include <algorithm>
#include <utility>

#include "communicator/communicator.hpp"

namespace stretto::mpi {

// Nonblocking calls. Nothing here waits: what ranks tell each other is a stage of the call that comes next, and when a
// call of a round ends does not matter, for its time counts if it is there by then.

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

// Persistent requests are made in the same order on all ranks, so that each begins with what is known then on all of
// them; their starts have no order, so that nothing that one finds out changes another.

const Decision* Learner::decide_persistent(const CallClass& like, const Call& call) {
  auto own = make_class(call);
  if (like.comparison.found()) {
    own->candidates = {like.candidates[like.comparison.current()]};
    own->known = true;
  }
  made_ = std::make_unique<Persistent>(*this, std::move(own), call);
  return &made_->decision(0);
}

void Learner::Persistent::open(learn::Moment offered) {
  learner_.open(*of_, CountedAs::persistent, offered);
  starts_.emplace(of_->comparison, of_->round, learner_.c_.one_node());
}

std::size_t Learner::Persistent::next() {
  const std::size_t candidate = starts_->next();
  if (timed() && !std::exchange(logged_, true)) learner_.log_opened(*of_, false);
  return candidate;
}

void Learner::Persistent::told(std::span<const learn::Moment> least, learn::Moment begin) {
  const std::size_t before = current();
  const auto verdict = starts_->told(least, begin, execute::now());
  if (verdict) learner_.refine(*of_, *verdict);
  if (verdict && settings().log_select && learner_.c_.rank() == 0) learner_.log(*of_, *verdict, before);
}

}  // namespace stretto::mpi

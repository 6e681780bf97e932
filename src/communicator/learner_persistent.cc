// SPDX-License-Identifier: BSD-3-Clause
//
// What persistent requests find out. Requests are made in the same order on all ranks, so that each begins with what is
// known then on all of them; their starts have no order, so that nothing that one finds out changes another.
#include <algorithm>

#include "communicator/communicator.hpp"

namespace stretto::mpi {

const Decision* Learner::decide_persistent(const CallClass& like, const Call& call) {
  auto own = make_class(call);
  if (like.comparison.found()) {
    own->candidates = {like.candidates[like.comparison.current()]};
    own->known = true;
  }
  made_ = std::make_unique<Persistent>(*this, std::move(own), call);
  return &made_->decision(0);
}

std::unique_ptr<Learner::Persistent> Learner::made() { return std::move(made_); }

Learner::Persistent::Persistent(Learner& learner, std::unique_ptr<CallClass> of, Call call)
    : learner_(learner),
      of_(std::move(of)),
      call_(std::move(call)) {}

Learner::Persistent::~Persistent() { learner_.keep(*of_); }

learn::Moment Learner::Persistent::offer() { return learner_.offer(*of_); }

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

void Learner::Persistent::add_beside(learn::Moment time) {
  if (timed()) of_->round.beside += time;
}

std::size_t Learner::Persistent::candidates() const { return of_->candidates.size(); }

std::size_t Learner::Persistent::current() const { return of_->comparison.current(); }

const Decision& Learner::Persistent::decision(std::size_t candidate) {
  return learner_.decision(*of_, candidate, call_);
}

}  // namespace stretto::mpi

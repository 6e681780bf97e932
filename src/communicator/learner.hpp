// SPDX-License-Identifier: BSD-3-Clause
//
// Learning on one communicator (STRETTO_LEARN): which calls take turns, how long they took, and what the ranks tell
// each other of that. What follows from the times is the business of learn/comparison.
//
// Ranks stay alike without a word: a class of calls is counted call by call, and what is done at which count follows
// from times that all ranks were told. So each blocking call of a class must be counted once on each rank, whether its
// plan was kept or not.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "communicator/plan_cache.hpp"
#include "learn/candidates.hpp"
#include "learn/comparison.hpp"
#include "select/choice_table.hpp"

namespace stretto::intercept {

class Communicator;
struct Decision;

class Learner {
 public:
  explicit Learner(Communicator& c) : c_(c) {}
  ~Learner();
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  /// Null: nothing is learned about such calls, and the rules decide. `takes_turn`: the call blocks; it is counted, and
  /// may be one of a round.
  const Decision* decide(const Call& call, bool takes_turn);

  /// Around each blocking call, whatever comes of it. end_call() may have the ranks tell each other times.
  void begin_call() { of_call_ = nullptr; }
  void end_call();
  /// Is the call, which has been decided, one of a round? Its plan is kept in plans_of_round() only.
  bool timed() const { return of_call_ && timed_; }
  PlanCache& plans_of_round();
  /// When the call begins to do what another candidate would do otherwise, and when it has ended.
  void begin_work() {
    if (timed() && began_ == 0) began_ = execute::now();
  }
  void end_work() {
    if (timed() && began_ != 0) ended_ = execute::now();
  }

 private:
  struct Span {
    std::int64_t begin = 0, end = 0;
  };
  struct CallClass {
    Call call;  ///< the first one, with where its ranks are
    Between bytes;
    std::string conditions;
    std::vector<learn::Candidate> candidates;  ///< until it is opened, the one that serves it
    std::vector<ChoiceTable<Decision>> decisions;
    learn::Comparison comparison{1, 0, false};
    bool known = false;   ///< what serves it at first was measured, and is not the shipped choice
    bool opened = false;  ///< it has been called often
    // Of a round:
    std::int64_t zero = 0;  ///< a moment that all ranks have in common
    std::vector<Span> spans;
    std::int64_t beside = 0;  ///< of my calls what was not their work
  };

  CallClass* class_of(const Call& call);
  std::unique_ptr<CallClass> make_class(const Call& call);
  const Decision& decision(CallClass& of, std::size_t candidate, const Call& call);
  void open(CallClass& of);
  void begin_round(CallClass& of) const;
  void tell(CallClass& of);
  void log(const CallClass& of, const learn::Verdict& verdict, std::size_t before) const;
  void keep(const CallClass& of) const;

  Communicator& c_;
  std::array<std::vector<std::unique_ptr<CallClass>>, std::size(all_functions)> classes_;
  PlanCache plans_of_round_;

  // Of the call that is under way:
  CallClass* of_call_ = nullptr;  ///< null: it is not counted
  bool timed_ = false;
  learn::Comparison::Turn turn_{};
  std::int64_t entered_ = 0, began_ = 0, ended_ = 0;

  std::int64_t telling_ = 0;  ///< what ranks took last to tell each other something
};

/// What the native function does of a call on `comm`, and its end.
void begin_native_work(MPI_Comm comm);
void end_native_work(MPI_Comm comm);

}  // namespace stretto::intercept

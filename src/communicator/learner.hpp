// SPDX-License-Identifier: BSD-3-Clause
//
// Learning on one communicator (STRETTO_LEARN): which calls take turns, how long they took, and what the ranks tell
// each other of that. What follows from the times is the business of learn/comparison.
//
// Ranks stay alike without a word: a class of calls is counted call by call, and what is done at which count follows
// from times that all ranks were told. So each call of a class must be counted once on each rank, whether its plan was
// kept or not, in the order in which calls choose, which is the same on all ranks.
//
// Blocking calls tell each other times when the last call of a round is over. A call that returns at once may not wait
// for that: it has a stage of its own for it, before it chooses, and calls behind it queue (prepare/nonblocking_call).
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "communicator/plan_cache.hpp"
#include "learn/candidates.hpp"
#include "learn/comparison.hpp"
#include "learn/round.hpp"
#include "learn/starts.hpp"
#include "select/choice_table.hpp"

namespace stretto::mpi {

class Communicator;
struct Decision;

class Learner {
  struct CallClass;

 public:
  explicit Learner(Communicator& c) : c_(c) {}
  ~Learner();
  Learner& operator=(Learner&&) = delete;

  /// Null: nothing is learned about such calls, and the rules decide. Unless `form` is none, the call is counted, and
  /// may be one of a round.
  const Decision* decide(const Call& call, CountedAs form);

  /// Around each blocking call, whatever comes of it. end_call() may have the ranks tell each other times.
  void begin_call() { of_call_ = nullptr; }
  void end_call();
  /// Is the call, which has been decided, one of a round? Its plan is kept in plans_of_round() only.
  bool timed() const { return of_call_ && timed_; }
  PlanCache& plans_of_round(CountedAs form);
  /// Such a call of the turn under way has been decided, and what it does was kept in plans_of_round(): it is one of
  /// the turn again. Null: it has to be decided.
  PlanCache::Cached* again(const Arguments& arguments);
  /// What a call of the turn has left in plans_of_round() serves the others of it.
  void keep_for_turn(PlanCache::Cached& kept) const { kept.quiet = {&of_call_->left_in_turn, nullptr}; }
  /// The same calls may be of another class from now on, or be served as the program says.
  void forget_plans() {
    plans_of_round_.clear();
    class_in_turn_ = nullptr;
  }
  /// When the call begins to do what another candidate would do otherwise, and when it has ended.
  void begin_work() {
    if (timed() && began_ == 0) began_ = execute::now();
  }
  void end_work() {
    if (timed() && began_ != 0) ended_ = execute::now();
  }

  /// Before a nonblocking call decides: what the ranks are to tell each other; nothing: it need not be.
  std::vector<learn::Moment> tells(const Call& call);
  /// They have, since `begin`: of all ranks' numbers the smallest.
  void told(const Call& call, std::span<const learn::Moment> least, learn::Moment begin);
  /// A nonblocking call of a round, which may end at any time.
  class Turn {
   public:
    explicit operator bool() const { return of_ != nullptr; }
    /// It took so long. While its communicator is there.
    void tell(learn::Span span);

   private:
    friend class Learner;
    CallClass* of_ = nullptr;
    std::uint64_t round_ = 0;
    std::size_t call_ = 0;
  };
  /// Of the nonblocking call that was decided last: empty if it is not one of a round.
  Turn taken() { return std::exchange(taken_, {}); }

  /// A persistent request that is being made. decide() has left it here; null: its call is not as it must be.
  class Persistent;
  std::unique_ptr<Persistent> made();
  /// Do starts of requests for `function` take turns? The same on all ranks. Where these tell each other sizes, a call
  /// would have to do so for each candidate.
  bool learns_by_starts(Function function) const { return !fixed(function) && facts(function).bytes_known; }

 private:
  using Candidates = std::vector<learn::Candidate>;
  struct CallClass {
    Call call;  ///< the first one, with where its ranks are
    Between bytes;
    std::string conditions;
    Candidates candidates;                        ///< until it is opened, the one that serves it
    Candidates offered;                           ///< what they will be then
    std::deque<ChoiceTable<Decision>> decisions;  ///< of each candidate; they stay where they are
    learn::Comparison comparison{1, 0, false};
    bool known = false;                         ///< what serves it at first was measured here
    bool opened = false;                        ///< it has been called often
    CountedAs form = CountedAs::blocking;       ///< once it is opened: the calls that take turns
    std::array<std::uint32_t, 2> until_open{};  ///< calls of each form
    learn::Round round;
    learn::Comparison::Turn turn;    ///< of blocking calls, the last one
    std::uint32_t left_in_turn = 0;  ///< calls of it to come, and the one that was made last; 0, 1: it is over
    bool over = false;               ///< the round; its times are still to be told
    std::size_t patience = 0;        ///< nonblocking calls between the last one of a round and the one that tells
  };

  CallClass* class_of(const Call& call);
  std::unique_ptr<CallClass> make_class(const Call& call);
  const Decision& decision(CallClass& of, std::size_t candidate, const Call& call);
  std::uint32_t* counter(CallClass& of, CountedAs form);
  bool fixed(Function function) const;
  learn::Moment offer(CallClass& of);
  void open(CallClass& of, CountedAs form, learn::Moment offered);
  void refine(CallClass& of, const learn::Verdict& verdict) const;
  void log_opened(const CallClass& of, bool taken) const;
  std::vector<learn::Moment> least_of(const CallClass& of, const std::vector<learn::Moment>& mine);
  void begin_round(CallClass& of) const;
  void begin_timed(CallClass& of);
  void conclude(CallClass& of, std::span<const learn::Moment> least);
  const Decision* decide_nonblocking(CallClass& of, const Call& call);
  const Decision* decide_persistent(const CallClass& like, const Call& call);
  void log(const CallClass& of, const learn::Verdict& verdict, std::size_t before) const;
  void observe_learned(const CallClass& of) const;
  void keep(const CallClass& of) const;

  Communicator& c_;
  std::array<std::vector<std::unique_ptr<CallClass>>, std::size(all_functions)> classes_;
  PlanCache plans_of_round_;
  CallClass* class_in_turn_ = nullptr;  ///< whose turn they are for

  // Of the blocking call that is under way:
  CallClass* of_call_ = nullptr;  ///< null: it is not counted
  bool timed_ = false;
  std::size_t call_ = 0;  ///< of its round
  std::int64_t entered_ = 0, began_ = 0, ended_ = 0;

  Turn taken_;
  std::unique_ptr<Persistent> made_;
  std::int64_t telling_ = 0;  ///< what ranks took last to tell each other something
};

/// What ranks learn by the starts of one persistent request, which is freed before its communicator.
class Learner::Persistent {
 public:
  Persistent(Learner& learner, std::unique_ptr<CallClass> of, Call call)
      : learner_(learner),
        of_(std::move(of)),
        call_(std::move(call)) {}
  ~Persistent() { learner_.keep(*of_); }
  Persistent& operator=(Persistent&&) = delete;

  /// What this rank has to say before open(), which takes the smallest that any rank said. Not negative.
  learn::Moment offer() { return learner_.offer(*of_); }
  void open(learn::Moment offered);
  /// After open(): see learn::Starts.
  bool goes_on() { return starts_->goes_on(); }
  std::size_t next();
  bool timed() const { return starts_->timed(); }
  std::vector<learn::Moment> tells() const { return starts_->tells(); }
  void told(std::span<const learn::Moment> least, learn::Moment begin);
  void tell(learn::Span span) { starts_->set(span); }
  /// So long took of this round what is done once only.
  void add_beside(learn::Moment time) {
    if (timed()) of_->round.beside += time;
  }

  std::size_t candidates() const { return of_->candidates.size(); }
  std::size_t current() const { return of_->comparison.current(); }
  /// Equal on all ranks.
  const Decision& decision(std::size_t candidate) { return learner_.decision(*of_, candidate, call_); }

 private:
  Learner& learner_;
  std::unique_ptr<CallClass> of_;
  Call call_;
  std::optional<learn::Starts> starts_;
  bool logged_ = false;
};

inline std::unique_ptr<Learner::Persistent> Learner::made() { return std::move(made_); }

/// Null: nothing is learned on `comm`. Also where another thread has made or freed a communicator meanwhile.
Learner* learner_of(MPI_Comm comm);

}  // namespace stretto::mpi

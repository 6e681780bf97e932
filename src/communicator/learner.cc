// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/learner.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "communicator/communicator.hpp"
#include "communicator/learned.hpp"
#include "learn/refinements.hpp"
#include "mpi/bootstrap.hpp"
#include "observe/learning.hpp"
#include "stretto/sources.hpp"
#include "support/say.hpp"
#include "support/text.hpp"

namespace stretto::mpi {
namespace {

using learn::unknown;

constexpr std::size_t most_roots = 256;  // of a candidate
// Of blocking calls: a leaf of a tree may be several calls ahead of its root.
constexpr std::uint32_t calls_in_a_row = 8;

/// Which calls take turns, for people.
const char* by_calls(CountedAs form) {
  static constexpr auto forms = std::to_array({"", "; by nonblocking calls", "; by a persistent request"});
  return forms[static_cast<std::size_t>(form)];
}

std::string words(const learn::Candidate& candidate) { return written(candidate.algorithm, candidate.params); }

}  // namespace

Learner::~Learner() {
  for (const auto& of_function : classes_)
    for (const auto& one : of_function) keep(*one);
}

Learner::CallClass* Learner::class_of(const Call& call) {
  auto& classes = classes_[static_cast<std::size_t>(call.function)];
  for (const auto& one : classes)
    if (one->call.commutative == call.commutative && one->call.predefined == call.predefined &&
        one->bytes.holds(call.bytes))
      return one.get();
  classes.push_back(make_class(call));
  return classes.back().get();
}

std::unique_ptr<Learner::CallClass> Learner::make_class(const Call& call) {
  auto one = std::make_unique<CallClass>();
  one->call = c_.placed(call);
  one->bytes = learn::class_of(call.function, call.bytes);
  one->conditions = learn::conditions(one->call, one->bytes);
  const Choice choice = choose(*c_.rules_, one->call);
  // The shipped choice was made on another machine: until it has proved itself here, calls are left as they were.
  const bool ours = choice.line > 0 && !c_.rules_->place(choice.line).starts_with(shipped_name);
  // Rules that were measured say where; others were predicted, or made by hand. A list says where ranks were then.
  one->known = ours && c_.rules_->measured(choice.line) && choice.params.list.empty();
  const Params params = one->known ? choice.params : learn::normalized(choice.params, call.bytes);  // as others will be
  one->candidates = {ours ? learn::Candidate{choice.algorithm, params} : learn::Candidate{}};
  one->decisions.resize(1);
  one->until_open.fill(learn::Limits{}.first_round(one->known || !one->candidates[0].algorithm));
  return one;
}

/// Are such calls served as the program or its user says, or is nothing learned about them?
bool Learner::fixed(Function function) const {
  if (!learn::learns(function)) return true;
  return std::ranges::any_of(c_.overrides_for(function), [](const Override* one) { return one != nullptr; });
}

/// Of calls of this form until something else is to be done than to serve them; null: they are not counted.
std::uint32_t* Learner::counter(CallClass& of, CountedAs form) {
  if (!of.opened) return &of.until_open[static_cast<std::size_t>(form)];
  return of.form == form ? &of.comparison.quiet : nullptr;
}

const Decision* Learner::decide(const Call& call, CountedAs form) {
  if (fixed(call.function)) return nullptr;
  if (of_call_ && form == CountedAs::blocking) {  // it turned out to be larger than it was taken for
    began_ = unknown;
    form = CountedAs::none;
  }
  CallClass& of = *class_of(call);
  if (form == CountedAs::persistent) return decide_persistent(of, call);
  learn::Comparison& comparison = of.comparison;
  std::uint32_t* const left = form == CountedAs::none ? nullptr : counter(of, form);
  if (!left) {
    // Neither it nor others like it are counted. Once some are, one choice serves all: of two, ranks would keep plans
    // of different ones.
    if (!of_call_ && !of.known && !of.opened) return nullptr;
    return &decision(of, comparison.current(), call);
  }
  if (form == CountedAs::nonblocking) return decide_nonblocking(of, call);
  if (*left > 0) {
    of_call_ = &of;
    timed_ = false;
    --*left;
    return &decision(of, comparison.current(), call);
  }
  const bool goes_on = of.left_in_turn > 1;
  if (!goes_on) of.turn = comparison.next_turn();
  of.left_in_turn = goes_on ? of.left_in_turn - 1 : of.turn.calls;
  if (!goes_on || class_in_turn_ != &of) plans_of_round_.clear();
  class_in_turn_ = &of;
  begin_timed(of);
  return &decision(of, of.turn.candidate, call);
}

void Learner::begin_timed(CallClass& of) {
  of_call_ = &of;
  timed_ = true;
  call_ = of.round.add();
  began_ = ended_ = 0;
  entered_ = execute::now();
}

PlanCache::Cached* Learner::again(const Arguments& arguments) {
  if (!class_in_turn_ || class_in_turn_->left_in_turn <= 1) return nullptr;
  const auto* const found = plans_of_round_.find(arguments, CountedAs::blocking);
  if (!found) return nullptr;
  begin_timed(*class_in_turn_);
  return found->get();
}

const Decision& Learner::decision(CallClass& of, std::size_t candidate, const Call& call) {
  ChoiceTable<Decision>& table = of.decisions[candidate];
  if (const Decision* known = table.find(call)) return *known;
  Call here = c_.placed(call);
  learn::Candidate one = of.candidates[candidate];
  if (!learn::serves(one, here)) one = {};
  Decision made{one.algorithm, one.params, nullptr, nullptr};
  made.quiet = {counter(of, CountedAs::blocking), counter(of, CountedAs::nonblocking)};
  if (one.algorithm) {
    made.served = &statistics().of(call.function, *one.algorithm);
    if (!one.algorithm->needs.counts) made.schedule = c_.schedule(*one.algorithm, here.shape, one.params);
  }
  if (table.size() >= most_roots) table.clear();
  return table.add(here, of.bytes, std::move(made));
}

/// The class has been called often: what else could serve it? Rank 0 then says which one it knows to be the best from
/// another communicator, if any.
learn::Moment Learner::offer(CallClass& of) {
  of.offered = learn::candidates(*c_.rules_, of.call);
  if (std::ranges::find(of.offered, of.candidates[0]) == of.offered.end()) of.offered.push_back(of.candidates[0]);
  if (c_.rank() != 0) return unknown;
  const auto before = learned_before(of.conditions);
  return before ? learn::code_of(*before, of.offered) : 0;
}

void Learner::open(CallClass& of, CountedAs form, learn::Moment offered) {
  of.opened = true;
  of.form = form;
  const auto at = std::ranges::find(of.offered, of.candidates[0]);
  const auto index = static_cast<std::size_t>(at - of.offered.begin());
  const auto known = learn::decoded(offered, of.offered);
  const bool taken = known && learn::serves(*known, of.call);  // there ranks may have been on other nodes
  of.candidates = std::exchange(of.offered, {});
  if (taken && std::ranges::find(of.candidates, *known) == of.candidates.end()) of.candidates.push_back(*known);
  of.decisions.clear();
  of.decisions.resize(of.candidates.size());
  learn::Limits limits;
  if (form == CountedAs::blocking) limits.in_a_row = calls_in_a_row;
  of.comparison = learn::Comparison(of.candidates.size(), index, of.known, limits);
  if (taken)
    of.comparison.take_over(static_cast<std::size_t>(std::ranges::find(of.candidates, *known) - of.candidates.begin()));
  else if (!of.known && form != CountedAs::persistent)
    of.comparison.quiet = 0;  // those calls have been made
  if (form == CountedAs::persistent) return;
  c_.plans.clear();
  log_opened(of, taken);
}

/// All have been compared: what differs a little from the fastest is next, until nothing of that is better.
void Learner::refine(CallClass& of, const learn::Verdict& verdict) const {
  const bool ended = verdict.event == learn::Event::better || verdict.event == learn::Event::settled;
  if (!ended || !of.comparison.settled()) return;
  const std::size_t before = of.candidates.size();
  std::ranges::move(learn::next_refinements(of.candidates, of.comparison, of.call), std::back_inserter(of.candidates));
  if (of.candidates.size() == before) return;
  of.decisions.resize(of.candidates.size());
  of.comparison.add(of.candidates.size() - before);
  if (!settings().log_select || c_.rank() != 0) return;
  std::string text = "select: learning: " + of.conditions + ": also";
  for (std::size_t k = before; k < of.candidates.size(); ++k)
    text += (k > before ? ", " : " ") + words(of.candidates[k]);
  say(text + by_calls(of.form));
}

void Learner::log_opened(const CallClass& of, bool taken) const {
  if (!settings().log_select || c_.rank() != 0) return;
  std::string text = "select: learning: " + of.conditions + ": ";
  if (taken) return say(text + words(of.candidates[of.comparison.current()]) + ", as on another communicator");
  for (std::size_t k = 0; k < of.candidates.size(); ++k) text += (k > 0 ? ", " : "") + words(of.candidates[k]);
  say(text + "; at first " + words(of.candidates[of.comparison.current()]) + by_calls(of.form));
}

/// The least that any rank gives, number by number; what that took is kept, too.
std::vector<learn::Moment> Learner::least_of(const CallClass& of, const std::vector<learn::Moment>& mine) {
  std::vector<learn::Moment> least(mine.size());
  const std::int64_t begin = execute::now();
  Bootstrap(c_.comm(), "learning about " + mpi_name(of.call.function)).minimum(mine, least.data());
  telling_ = execute::now() - begin;
  return least;
}

/// Ranks of one node have one clock; others leave what they do together at about the same time.
void Learner::begin_round(CallClass& of) const {
  if (c_.one_node()) return of.round.begin(0);
  const std::int64_t begin = execute::now();
  Bootstrap(c_.comm(), "learning, the beginning of a round").minimum(0);
  of.round.begin(execute::now());
  of.round.beside = of.round.zero() - begin;
}

/// Those of a blocking call's turn are found again. A nonblocking call holds its own.
PlanCache& Learner::plans_of_round(CountedAs form) {
  if (form != CountedAs::blocking) forget_plans();
  return plans_of_round_;
}

/// Whatever ranks tell each other of blocking calls they tell here, between two calls: inside one, others under way
/// would not go on.
void Learner::end_call() {
  CallClass* of = std::exchange(of_call_, nullptr);
  if (!of) return;
  if (timed_) {
    if (began_ != 0 && began_ != unknown && ended_ >= began_) {
      of->round.set(call_, {began_, ended_});
      of->round.beside += execute::now() - entered_ - (ended_ - began_);
    }
    if (!of->turn.last || of->left_in_turn > 1) return;
    conclude(*of, least_of(*of, of->round.numbers(telling_)));
  }
  if (!of->opened && of->until_open[0] == 0) open(*of, CountedAs::blocking, least_of(*of, {offer(*of)})[0]);
  if (of->opened && of->form == CountedAs::blocking && of->comparison.quiet == 0) begin_round(*of);
}

void Learner::conclude(CallClass& of, std::span<const learn::Moment> least) {
  const learn::Round::Outcome outcome = learn::Round::conclude(least, of.turn.calls);
  constexpr std::size_t most_patience = 64;
  if (of.form == CountedAs::nonblocking) of.patience = std::min(of.patience + outcome.late, most_patience);
  const std::size_t before = of.comparison.current();
  const learn::Verdict verdict = of.comparison.conclude(outcome.seconds, outcome.overhead);
  if (of.comparison.current() != before) c_.plans.clear();
  refine(of, verdict);
  if (settings().log_select && c_.rank() == 0) log(of, verdict, before);
}

void Learner::log(const CallClass& of, const learn::Verdict& verdict, std::size_t before) const {
  const learn::Comparison& comparison = of.comparison;
  const auto candidate = [&](std::size_t k) {
    const double seconds = comparison.seconds(k);
    return words(of.candidates[k]) + (seconds > 0 ? " (" + two_digits(seconds * 1e6) + " us)" : "");
  };
  std::string text;
  switch (verdict.event) {
    case learn::Event::none:
    case learn::Event::holds: return;
    case learn::Event::better: text = candidate(verdict.challenger) + " instead of " + candidate(before); break;
    case learn::Event::worse:
    case learn::Event::settled: text = candidate(before) + " stays, not " + candidate(verdict.challenger); break;
    case learn::Event::reopened: text = candidate(before) + " is in doubt: all are compared anew"; break;
  }
  text += "; ratio " + two_digits(verdict.ratio) + " by " + std::to_string(verdict.pairs) +
          (verdict.pairs == 1 ? " pair" : " pairs") + " of turns";
  if (comparison.settled())
    text += "; settled after " + std::to_string(comparison.calls() - comparison.quiet) + " calls";
  say("select: learned: " + of.conditions + ": " + text);
}

void Learner::observe_learned(const CallClass& of) const {
  const learn::Comparison& comparison = of.comparison;
  observe::LearnedClass learned{.form = std::string(name_of(static_cast<Form>(of.form))),
                                .settled = comparison.settled(),
                                .choice = words(of.candidates[comparison.current()]),
                                .spent = comparison.spent(),
                                .tried = {}};
  for (std::size_t k = 0; k < of.candidates.size(); ++k)
    learned.tried[words(of.candidates[k])] = {comparison.seconds(k), comparison.timed(k), comparison.served(k)};
  observe::add_learned(of.conditions, learned);
}

void Learner::keep(const CallClass& of) const {
  const learn::Comparison& comparison = of.comparison;
  if (c_.rank() != 0 || !of.opened) return;
  if (!settings().profile.empty()) observe_learned(of);
  if (!comparison.found() || comparison.pairs() == 0) return;
  const std::size_t current = comparison.current();
  const auto native = std::ranges::find(of.candidates, learn::Candidate{}) - of.candidates.begin();
  keep_learned({.conditions = of.conditions,
                .choice = of.candidates[current],
                .seconds = comparison.seconds(current),
                .native_seconds = comparison.seconds(static_cast<std::size_t>(native)),
                .pairs = comparison.pairs()},
               comparison.settled());
}

Learner* learner_of(MPI_Comm comm) {
  if (settings().learn.empty()) [[likely]]
    return nullptr;
  Communicator* const c = communicator_at_hand(comm);
  return c ? c->learner.get() : nullptr;
}

}  // namespace stretto::mpi

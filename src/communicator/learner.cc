// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/learner.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "communicator/communicator.hpp"
#include "communicator/learned.hpp"
#include "mpi/bootstrap.hpp"
#include "stretto/sources.hpp"
#include "support/say.hpp"

namespace stretto::intercept {
namespace {

constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max() / 4;  // a moment that no rank can tell
constexpr double nanosecond = 1e-9;
constexpr std::size_t most_decisions = 256;  // of a candidate: roots

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f us", seconds / 1e3 / nanosecond);
  return text;
}

std::string share(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", ratio);
  return text;
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
  one->known = choice.line > 0 && !c_.rules_->place(choice.line).starts_with(shipped_name);
  // The shipped choice was made on another machine: until it has proved itself here, calls are left as they were.
  one->candidates = {one->known ? learn::Candidate{choice.algorithm, choice.params} : learn::Candidate{}};
  one->decisions.resize(1);
  one->comparison.quiet = learn::Limits{}.before;
  return one;
}

const Decision* Learner::decide(const Call& call, bool takes_turn) {
  if (!learn::learns(call.function)) return nullptr;
  for (const Override* one : c_.overrides_for(call.function))
    if (one) return nullptr;
  if (of_call_) {  // it turned out to be larger than it was taken for
    began_ = unknown;
    takes_turn = false;
  }
  CallClass& of = *class_of(call);
  learn::Comparison& comparison = of.comparison;
  if (!takes_turn) {
    if (!of_call_ && !of.known && !comparison.found()) return nullptr;  // it is not counted, nor are others like it
    return &decision(of, comparison.current(), call);
  }
  of_call_ = &of;
  timed_ = false;
  if (comparison.quiet > 0) {
    --comparison.quiet;
    return &decision(of, comparison.current(), call);
  }
  turn_ = comparison.next_turn();
  timed_ = true;
  began_ = ended_ = 0;
  entered_ = execute::now();
  return &decision(of, turn_.candidate, call);
}

const Decision& Learner::decision(CallClass& of, std::size_t candidate, const Call& call) {
  ChoiceTable<Decision>& table = of.decisions[candidate];
  if (const Decision* known = table.find(call)) return *known;
  Call here = c_.placed(call);
  learn::Candidate one = of.candidates[candidate];
  if (!learn::serves(one, here)) one = {};
  Decision made{one.algorithm, one.params, nullptr, nullptr};
  if (one.algorithm) {
    made.served = &statistics().of(call.function, *one.algorithm);
    made.quiet = &of.comparison.quiet;
    if (!one.algorithm->needs.counts) made.schedule = c_.schedule(*one.algorithm, here.shape, one.params);
  }
  if (table.size() >= most_decisions) table.clear();
  return table.add(here, of.bytes, std::move(made));
}

/// The class has been called often: what else could serve it, and has another communicator found out already?
void Learner::open(CallClass& of) {
  of.opened = true;
  const learn::Candidate current = of.candidates[0];
  std::vector<learn::Candidate> all = learn::candidates(*c_.rules_, of.call);
  auto at = std::ranges::find(all, current);
  if (at == all.end()) at = all.insert(all.end(), current);
  const auto index = static_cast<std::size_t>(at - all.begin());
  std::int64_t mine = unknown;  // of rank 0: which one it knows of, and else how many there are
  if (c_.rank() == 0) {
    const auto before = learned_before(of.conditions);
    mine = before ? std::ranges::find(all, *before) - all.begin() : std::ssize(all);
  }
  std::int64_t offered = 0;
  const std::int64_t begin = execute::now();
  Bootstrap(c_.comm(), "learning about " + mpi_name(of.call.function)).minimum({&mine, 1}, &offered);
  telling_ = execute::now() - begin;
  of.candidates = std::move(all);
  of.decisions.clear();
  of.decisions.resize(of.candidates.size());
  of.comparison = learn::Comparison(of.candidates.size(), index, of.known);
  const bool taken = offered >= 0 && offered < std::ssize(of.candidates);
  if (taken)
    of.comparison.take_over(static_cast<std::size_t>(offered));
  else if (!of.known)
    of.comparison.quiet = 0;  // those calls have been made
  c_.plans.clear();
  if (!settings().log_select || c_.rank() != 0) return;
  std::string text = "select: learning: " + of.conditions + ": ";
  if (taken) return say(text + words(of.candidates[of.comparison.current()]) + ", as on another communicator");
  for (std::size_t k = 0; k < of.candidates.size(); ++k) text += (k > 0 ? ", " : "") + words(of.candidates[k]);
  say(text + "; at first " + words(of.candidates[index]));
}

/// Ranks of one node have one clock; others leave what they do together at about the same time.
void Learner::begin_round(CallClass& of) const {
  of.spans.clear();
  of.beside = of.zero = 0;
  if (c_.one_node()) return;
  const std::int64_t mine = 0;
  std::int64_t least = 0;
  const std::int64_t begin = execute::now();
  Bootstrap(c_.comm(), "learning, the beginning of a round").minimum({&mine, 1}, &least);
  of.zero = execute::now();
  of.beside = of.zero - begin;
}

PlanCache& Learner::plans_of_round() {
  plans_of_round_.clear();
  return plans_of_round_;
}

/// Whatever ranks tell each other they tell here, between two calls: inside one, others under way would not go on.
void Learner::end_call() {
  CallClass* of = std::exchange(of_call_, nullptr);
  if (!of) return;
  if (timed_) {
    const bool told = began_ != 0 && began_ != unknown && ended_ >= began_;
    of->spans.push_back(told ? Span{began_ - of->zero, ended_ - of->zero} : Span{unknown, unknown});
    if (told) of->beside += execute::now() - entered_ - (ended_ - began_);
    if (!turn_.last) return;
    tell(*of);
  }
  if (of->comparison.quiet == 0 && !of->opened) open(*of);
  if (of->comparison.quiet == 0) begin_round(*of);
}

/// The slowest rank's time of each call: from when the last rank came to it until the last one left. So nobody's late
/// arrival counts, nor that a rank left before the others.
void Learner::tell(CallClass& of) {
  std::vector<std::int64_t> mine, least;
  for (const Span& span : of.spans) {  // the latest of all is the smallest of the negative ones
    mine.push_back(-span.begin);
    mine.push_back(-span.end);
  }
  mine.push_back(of.beside);
  mine.push_back(telling_);
  least.resize(mine.size());
  const std::int64_t begin = execute::now();
  Bootstrap(c_.comm(), "learning about " + mpi_name(of.call.function)).minimum(mine, least.data());
  telling_ = execute::now() - begin;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < of.spans.size(); ++i) {
    const std::int64_t last_came = -least[2 * i], last_left = -least[2 * i + 1];
    const bool told = last_came < unknown && last_left < unknown;
    seconds.push_back(told ? static_cast<double>(std::max<std::int64_t>(last_left - last_came, 1)) * nanosecond : 0);
  }
  const std::int64_t overhead = least[least.size() - 2] + least.back();
  const std::size_t before = of.comparison.current();
  const learn::Verdict verdict = of.comparison.conclude(seconds, static_cast<double>(overhead) * nanosecond);
  if (of.comparison.current() != before) c_.plans.clear();
  if (settings().log_select && c_.rank() == 0) log(of, verdict, before);
}

void Learner::log(const CallClass& of, const learn::Verdict& verdict, std::size_t before) const {
  const learn::Comparison& comparison = of.comparison;
  const auto candidate = [&](std::size_t k) {
    const double seconds = comparison.seconds(k);
    return words(of.candidates[k]) + (seconds > 0 ? " (" + microseconds(seconds) + ')' : "");
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
  text += "; ratio " + share(verdict.ratio) + " by " + std::to_string(verdict.pairs) +
          (verdict.pairs == 1 ? " pair" : " pairs") + " of calls";
  if (comparison.settled())
    text += "; settled after " + std::to_string(comparison.calls() - comparison.quiet) + " calls";
  say("select: learned: " + of.conditions + ": " + text);
}

void Learner::keep(const CallClass& of) const {
  const learn::Comparison& comparison = of.comparison;
  if (c_.rank() != 0 || !of.opened || !comparison.found() || comparison.pairs() == 0) return;
  const std::size_t current = comparison.current();
  const auto native = std::ranges::find(of.candidates, learn::Candidate{}) - of.candidates.begin();
  keep_learned({.conditions = of.conditions,
                .choice = of.candidates[current],
                .seconds = comparison.seconds(current),
                .native_seconds = comparison.seconds(static_cast<std::size_t>(native)),
                .pairs = comparison.pairs()});
}

void begin_native_work(MPI_Comm comm) {
  if (Communicator* c = last_communicator(comm); c && c->learner) [[unlikely]]
    c->learner->begin_work();
}

void end_native_work(MPI_Comm comm) {
  Communicator* c = last_communicator(comm);
  if (!c || !c->learner) [[likely]]
    return;
  c->learner->end_work();
  c->learner->end_call();
}

}  // namespace stretto::intercept

// SPDX-License-Identifier: BSD-3-Clause
#include "check/machine.hpp"

#include <algorithm>
#include <compare>
#include <utility>

#include "check/refuse.hpp"

namespace stretto::checking {
namespace {

// One end of a message, in its rank's order.
struct End {
  std::pair<Rank, Rank> channel;  // from, to
  std::int64_t index;
  auto operator<=>(const End&) const = default;
};

Matching match(std::span<const Schedule> schedules) {
  Matching m;
  std::vector<End> sends, receives;
  std::int64_t send = 0, action = 0;
  for (const Schedule& s : schedules) {
    m.first_send.push_back(send);
    m.first_action.push_back(action);
    for (const Send& x : s.sends) sends.push_back({{s.rank, x.peer}, send++});
    for (const Action& a : s.actions) {
      if (is_receive(a.kind)) receives.push_back({{a.peer, s.rank}, action});
      ++action;
    }
  }
  m.first_send.push_back(send);
  m.first_action.push_back(action);
  m.action_of_send.assign(static_cast<std::size_t>(send), Matching::none);
  m.send_of_action.assign(static_cast<std::size_t>(action), Matching::none);
  std::ranges::sort(sends);
  std::ranges::sort(receives);
  for (std::size_t i = 0, j = 0; i < sends.size() && j < receives.size();) {
    if (sends[i].channel != receives[j].channel) {
      ++(sends[i].channel < receives[j].channel ? i : j);
      continue;
    }
    m.action_of_send[static_cast<std::size_t>(sends[i].index)] = receives[j].index;
    m.send_of_action[static_cast<std::size_t>(receives[j].index)] = sends[i].index;
    ++i, ++j;
  }
  return m;
}

}  // namespace

Machine::Machine(std::span<const Schedule> schedules)
    : schedules_(schedules),
      matching_(match(schedules)),
      expressions_(static_cast<Rank>(schedules.size())) {
  for (const Schedule& s : schedules) round_ends.emplace_back().reserve(s.rounds.size());
  states_.resize(schedules.size());
  messages_.resize(index(matching_.first_send.back()));
  receive_posted_.resize(index(matching_.first_action.back()));
}

Machine::Machine(std::span<const Schedule> schedules, const Question& question, Watcher* watcher) : Machine(schedules) {
  commutative_ = question.commutative;
  watcher_ = watcher;
  std::int64_t most = 0;
  for (const Schedule& s : schedules) {
    layouts_.emplace_back(s, question);
    most = std::max(most, layouts_.back().size());
    values_.emplace_back(index(layouts_.back().size()), no_expression);
  }
  marks_.resize(index(most));
  if (question.collective == Collective::barrier) {
    heard_words_ = (schedules.size() + 63) / 64;
    heard_.resize(schedules.size() * heard_words_);
    told_.resize(messages_.size() * heard_words_);
    for (std::size_t r = 0; r < schedules.size(); ++r)
      heard(static_cast<Rank>(r))[r / 64] |= std::uint64_t{1} << r % 64;
  }
  fill_inputs(question);
}

void Machine::store(Rank rank, Location at, Expression e, std::int64_t received_by) {
  values_[index(rank)][index(at)] = e;
  if (watcher_) watcher_->wrote(rank, at, e, received_by);
}

void Machine::fill_inputs(const Question& question) {
  for (const Schedule& s : schedules_)
    for (Buffer buffer : {Buffer::input, Buffer::output})
      for (Block b = 0; b < s.blocks; ++b) {
        const Content content = content_before(question.collective, question.shape, s.parts, s.rank, buffer, b);
        if (content.kind == Content::Kind::contribution)
          store(s.rank, layout(s.rank).of(buffer, b),
                expressions_.contribution(content.from,
                                          block_of(question.collective, question.shape, s.rank, buffer, b)));
      }
}

void Machine::run() {
  const auto ranks = static_cast<Rank>(schedules_.size());
  for (Rank r = ranks - 1; r >= 0; --r) ready_.push_back(r);  // so that rank 0 moves first
  while (!ready_.empty()) {
    const Rank rank = ready_.back();
    ready_.pop_back();
    advance(rank);
  }
  Chain longest;
  for (Rank r = 0; r < ranks; ++r) {
    if (!done(r)) refuse_hang();
    longest.wait_for(state(r).chain);
  }
  measured = {longest.rounds, longest.sent, longest.combined, matching_.first_send.back()};
}

void Machine::advance(Rank rank) {
  State& s = state(rank);
  while (!done(rank)) {
    if (!s.entered) enter(rank);
    if (!s.acted && s.unsent == 0) {
      if (!layouts_.empty()) act(rank);
      s.acted = true;
    }
    if (!s.acted || s.untaken > 0) return;
    s.chain = end_of_round(rank);
    round_ends[index(rank)].push_back(s.chain.rounds);
    s.combined = 0;
    s.entered = s.acted = false;
    ++s.round;
  }
}

void Machine::enter(Rank rank) {
  state(rank).entered = true;
  const Round& now = round(rank);
  for (std::size_t i = 0; i < now.sends.count; ++i) post_send(rank, now.sends.first + i);
  for (std::size_t i = 0; i < now.actions.count; ++i)
    if (is_receive(schedule(rank).actions[now.actions.first + i].kind)) post_receive(rank, now.actions.first + i);
}

void Machine::post_send(Rank rank, std::size_t i) {
  const std::int64_t number = matching_.send(rank, i);
  const Send& send = schedule(rank).sends[i];
  State& s = state(rank);
  Message& message = messages_[index(number)];
  const auto blocks = static_cast<std::size_t>(blocks_in(schedule(rank).at(send.blocks)));
  message = {.first = contents_.size(), .count = blocks, .chain = s.chain, .posted = true};
  if (!layouts_.empty()) {
    layout(rank).locate(schedule(rank).at(send.blocks), sources_);
    for (Location at : sources_) contents_.push_back(held(rank, at, "sends"));
  }
  std::copy_n(heard(rank), heard_words_, told_.begin() + static_cast<std::ptrdiff_t>(index(number) * heard_words_));
  const std::int64_t taker = matching_.action_of_send[index(number)];
  if (taker == Matching::none || !receive_posted_[index(taker)]) {
    ++s.untaken;
  } else if (--state(send.peer).unsent == 0) {
    ready_.push_back(send.peer);
  }
}

void Machine::post_receive(Rank rank, std::size_t i) {
  const std::int64_t number = matching_.action(rank, i);
  const Rank peer = schedule(rank).actions[i].peer;
  receive_posted_[index(number)] = 1;
  const std::int64_t sender = matching_.send_of_action[index(number)];
  if (sender == Matching::none || !messages_[index(sender)].posted) {
    ++state(rank).unsent;
  } else if (--state(peer).untaken == 0) {
    ready_.push_back(peer);
  }
}

void Machine::Chain::wait_for(const Chain& other) {
  rounds = std::max(rounds, other.rounds);
  sent = std::max(sent, other.sent);
  combined = std::max(combined, other.combined);
}

Machine::Chain Machine::end_of_round(Rank rank) const {
  const Round& now = round(rank);
  bool speaks = now.sends.count > 0;
  std::int64_t out = 0;
  std::int64_t in = 0;
  Chain end = state(rank).chain;
  for (const Send& send : schedule(rank).sends_of(now)) out += blocks_in(schedule(rank).at(send.blocks));
  for (std::size_t i = now.actions.first; i < now.actions.first + now.actions.count; ++i) {
    if (!is_receive(schedule(rank).actions[i].kind)) continue;
    speaks = true;
    const Message& message = messages_[index(send_taken_by(rank, i))];
    end.wait_for(message.chain);
    in += static_cast<std::int64_t>(message.count);
  }
  end.rounds += speaks ? 1 : 0;
  end.sent += std::max(out, in);
  end.combined += state(rank).combined;
  return end;
}

void Machine::act(Rank rank) {
  const Round& now = round(rank);
  const Schedule& s = schedule(rank);
  mark_hazards(rank, now);
  if (watcher_) watcher_->begin_round(rank, end_of_round(rank).rounds);
  for (std::size_t i = now.actions.first; i < now.actions.first + now.actions.count; ++i) {
    const Action& action = s.actions[i];
    layout(rank).locate(s.at(action.target), targets_);
    layout(rank).locate(s.at(action.source), sources_);
    layout(rank).locate(s.at(action.operand), operands_);
    results_.clear();
    if (is_receive(action.kind)) {
      receive(rank, i);
    } else {
      for (Location at : sources_)
        results_.push_back(read(rank, i, at, action.kind == ActionKind::copy ? "copies" : "combines"));
    }
    if (action.kind == ActionKind::receive_reduce || action.kind == ActionKind::reduce) reduce(rank, i);
    for (std::size_t k = 0; k < targets_.size(); ++k) write(rank, i, targets_[k], results_[k]);
  }
  if (watcher_) watcher_->end_round(rank);
}

void Machine::mark_hazards(Rank rank, const Round& now) {
  const Schedule& s = schedule(rank);
  ++acted_rounds_;
  for (const Send& send : s.sends_of(now)) {
    layout(rank).locate(s.at(send.blocks), sources_);
    for (Location at : sources_) marks_[index(at)].sent_in = acted_rounds_;
  }
  for (std::size_t i = now.actions.first; i < now.actions.first + now.actions.count; ++i) {
    if (s.actions[i].kind != ActionKind::receive) continue;
    layout(rank).locate(s.at(s.actions[i].target), targets_);
    for (Location at : targets_) {
      Marks& marks = marks_[index(at)];
      if (marks.received_in == acted_rounds_)
        refuse(Refusal::overlapping_receive,
               where(rank, state(rank).round) + "receives twice into " + layout(rank).name(at));
      marks.received_in = acted_rounds_;
      marks.received_by = i;
    }
  }
}

void Machine::touch(Rank rank, std::size_t action, Location at, const char* verb) const {
  const Marks& marks = marks_[index(at)];
  if (marks.received_in == acted_rounds_ && marks.received_by > action)
    refuse(Refusal::overlapping_receive, where(rank, state(rank).round) + verb + ' ' + layout(rank).name(at) +
                                             " before it receives into it from rank " +
                                             std::to_string(schedule(rank).actions[marks.received_by].peer));
}

Expression Machine::held(Rank rank, Location at, const char* verb) const {
  const Expression e = values_[index(rank)][index(at)];
  if (e == no_expression)
    refuse(Refusal::never_written,
           where(rank, state(rank).round) + verb + ' ' + layout(rank).name(at) + ", which holds nothing");
  return e;
}

Expression Machine::read(Rank rank, std::size_t action, Location at, const char* verb) const {
  touch(rank, action, at, verb);
  return held(rank, at, verb);
}

void Machine::write(Rank rank, std::size_t action, Location at, Expression e) {
  touch(rank, action, at, "writes");
  // Other actions wait until the sends have left, which depends on no action of the round.
  const bool lands_when_it_likes = schedule(rank).actions[action].kind == ActionKind::receive;
  if (lands_when_it_likes && marks_[index(at)].sent_in == acted_rounds_)
    refuse(Refusal::overlapping_send,
           where(rank, state(rank).round) + "receives into " + layout(rank).name(at) + ", which the same round sends");
  store(rank, at, e, lands_when_it_likes ? matching_.action(rank, action) : Matching::none);
}

// Leaves the message in results_.
void Machine::receive(Rank rank, std::size_t action) {
  const std::size_t send = index(send_taken_by(rank, action));
  const Message& message = messages_[send];
  const auto first = contents_.begin() + static_cast<std::ptrdiff_t>(message.first);
  results_.assign(first, first + static_cast<std::ptrdiff_t>(message.count));
  const bool fits =
      std::equal(results_.begin(), results_.end(), targets_.begin(), targets_.end(),
                 [&](Expression e, Location at) { return expressions_.block(e) == layout(rank).block(at); });
  if (!fits) refuse_message(rank, action);
  for (std::size_t w = 0; w < heard_words_; ++w) heard(rank)[w] |= told_[send * heard_words_ + w];
}

void Machine::refuse_message(Rank rank, std::size_t action) const {
  std::vector<Block> sent, awaited;
  for (Expression e : results_) sent.push_back(expressions_.block(e));
  for (Location at : targets_) awaited.push_back(layout(rank).block(at));
  const Rank peer = schedule(rank).actions[action].peer;
  refuse(Refusal::misordered_message, where(rank, state(rank).round) + "awaits " + blocks(awaited) + " from rank " +
                                          std::to_string(peer) + ", which sends " + blocks(sent) + " in its round " +
                                          std::to_string(round_of_send(peer, send_taken_by(rank, action)) + 1));
}

// Puts the other operand to what is in results_.
void Machine::reduce(Rank rank, std::size_t action) {
  const Action& a = schedule(rank).actions[action];
  if (watcher_)
    for (const auto* operands : {&sources_, &operands_})
      for (Location at : *operands) watcher_->combined(rank, at);
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    const Expression operand = read(rank, action, operands_[k], "combines");
    results_[k] = a.side == Side::left ? combine(rank, targets_[k], results_[k], operand)
                                       : combine(rank, targets_[k], operand, results_[k]);
  }
  state(rank).combined += static_cast<std::int64_t>(targets_.size());
}

Expression Machine::combine(Rank rank, Location target, Expression left, Expression right) {
  const auto at = [&] { return where(rank, state(rank).round) + layout(rank).name(target); };
  if (expressions_.share_contribution(left, right))
    refuse(Refusal::double_counting,
           at() + " would count " + ranks(expressions_.shared_contributors(left, right)) + " twice");
  if (!commutative_ && !expressions_.in_order(left, right))
    refuse(Refusal::wrong_order, at() + " would be " + expressions_.text(left) + " . " + expressions_.text(right));
  return expressions_.combined(left, right);
}

}  // namespace stretto::checking

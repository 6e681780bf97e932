// SPDX-License-Identifier: BSD-3-Clause
//
// What the checker's machine does, kept for traffic and pictures.
#include "check/machine.hpp"
#include "stretto/error.hpp"

namespace stretto {
namespace checking {
namespace {

class Recorder : public Watcher {
 public:
  Recorder(std::span<const Schedule> schedules, const Question& question) {
    for (const Schedule& s : schedules)
      ranks_.push_back({.slots = std::vector<Slot>(index(Layout(s, question).size())), .blocks = s.blocks});
    holdings.resize(schedules.size());
    for (const Schedule& s : schedules) at_once.resize(at_once.size() + s.actions.size());
  }

  void begin_round(Rank rank, std::int64_t step_at_end) override { ranks_[index(rank)].step = step_at_end; }

  void combined(Rank rank, Location at) override {
    Slot& slot = ranks_[index(rank)].slots[index(at)];
    if (slot.received_by != Matching::none && slot.step == ranks_[index(rank)].step)
      at_once[index(slot.received_by)] = 1;
    slot.received_by = Matching::none;
  }

  void wrote(Rank rank, Location at, Expression e, std::int64_t received_by) override {
    Of& of = ranks_[index(rank)];
    Slot& slot = of.slots[index(at)];
    if (slot.value == no_expression) of.written.push_back(at);
    slot = {.value = e, .received_by = received_by, .step = of.step};
  }

  void end_round(Rank rank) override { keep(rank); }

  void keep(Rank rank) {
    const Of& of = ranks_[index(rank)];
    std::vector<Holding>& list = holdings[index(rank)];
    if (list.empty() || list.back().step != of.step) list.push_back({.step = of.step, .held = {}});
    list.back().held.clear();
    for (const Location at : of.written) {
      const Expression e = of.slots[index(at)].value;
      const bool result = at >= of.blocks && at < 2 * of.blocks;
      Held& held = list.back().held.emplace_back(machine->expressions().block(e), result, std::vector<Rank>{});
      machine->expressions().add_operands(e, held.contributions);
    }
  }

  const Machine* machine = nullptr;
  std::vector<std::vector<Holding>> holdings;
  std::vector<char> at_once;  // of every action: has another of the same step combined what it received?

 private:
  struct Slot {
    Expression value = no_expression;
    std::int64_t received_by = Matching::none;
    std::int64_t step = 0;
  };
  struct Of {
    std::vector<Slot> slots;
    Block blocks;
    std::vector<Location> written = {};  // in the order of the first time
    std::int64_t step = 0;               // at whose end the round will end
  };
  std::vector<Of> ranks_;
};

}  // namespace

std::vector<Delivery> Machine::deliveries(std::span<const char> at_once) const {
  std::vector<std::size_t> sent_in;
  for (const Schedule& s : schedules_)
    for (std::size_t n = 0; n < s.rounds.size(); ++n) sent_in.insert(sent_in.end(), s.rounds[n].sends.count, n);
  const auto begin = [&](Rank rank, std::size_t n) { return n == 0 ? 0 : round_ends[index(rank)][n - 1]; };
  std::vector<Delivery> list;
  list.reserve(sent_in.size());
  for (const Schedule& s : schedules_)
    for (std::size_t n = 0; n < s.rounds.size(); ++n)
      for (std::size_t i = s.rounds[n].actions.first; i < s.rounds[n].actions.first + s.rounds[n].actions.count; ++i) {
        const Action& a = s.actions[i];
        if (!is_receive(a.kind)) continue;
        const std::size_t send = index(send_taken_by(s.rank, i));
        const Message& m = messages_[send];
        list.push_back({.step = 1 + std::max(begin(s.rank, n), begin(a.peer, sent_in[send])),
                        .from = a.peer,
                        .to = s.rank,
                        .blocks = {static_cast<std::uint32_t>(m.first), static_cast<std::uint32_t>(m.count)},
                        .combined = a.kind == ActionKind::receive_reduce ||
                                    (!at_once.empty() && at_once[index(matching_.action(s.rank, i))] != 0)});
      }
  return list;
}

std::vector<Block> Machine::sent_blocks() const {
  std::vector<Block> blocks;
  for (const Expression e : contents_) blocks.push_back(expressions_.block(e));
  return blocks;
}

}  // namespace checking

Record record(std::span<const Schedule> schedules, const Question& question) {
  checking::Recorder recorder(schedules, question);
  checking::Machine machine(schedules, question, &recorder);
  recorder.machine = &machine;
  for (const Schedule& s : schedules) recorder.keep(s.rank);
  machine.run();
  return {.messages = machine.deliveries(recorder.at_once),
          .blocks = machine.sent_blocks(),
          .holdings = std::move(recorder.holdings)};
}

std::vector<Delivery> deliveries(std::span<const Schedule> schedules) {
  checking::Machine machine(schedules);
  try {
    machine.run();
  } catch (const Refused& refused) {
    throw Error(refused.message, "`stretto check` says what is wrong with a file of schedules");
  }
  return machine.deliveries();
}

}  // namespace stretto

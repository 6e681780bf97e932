// SPDX-License-Identifier: BSD-3-Clause
#include "check/machine.hpp"

#include <vector>

#include "check/refuse.hpp"

namespace stretto::checking {
namespace {

constexpr std::int64_t most_locations = std::int64_t{1} << 24;  // of all ranks: some 100 bytes each
constexpr std::int64_t most_blocks = std::int64_t{1} << 27;     // in messages and actions: 4 bytes each
constexpr std::int64_t most_words = std::int64_t{1} << 27;      // of who has heard of whom, in a barrier

[[noreturn]] void malformed(const std::string& message) { refuse(Refusal::malformed, message); }

void check_question(std::span<const Schedule> schedules, const Question& question) {
  const Shape& shape = question.shape;
  const CollectiveFacts& collective = facts(question.collective);
  const std::string name(collective.name);
  if (shape.ranks < 1 || shape.root < 0 || shape.root >= shape.ranks)
    malformed("root " + std::to_string(shape.root) + " of " + counted(shape.ranks, "rank"));
  if (schedules.size() != static_cast<std::size_t>(shape.ranks))
    malformed(counted(static_cast<std::int64_t>(schedules.size()), "schedule") + " for " +
              counted(shape.ranks, "rank"));
  if (collective.neighbourhood) {
    const auto graph = graph_of(shape);
    if (graph->ranks() != shape.ranks || !graph->whole())
      malformed("the graph is not that of all " + counted(shape.ranks, "rank"));
    if (!graph->misfit().empty()) malformed(graph->misfit());
  }
  if (question.in_place && !may_alias(question.collective)) malformed(name + " has no in-place form");
  std::int64_t locations = 0, words = 0;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const Schedule& s = schedules[i];
    const std::string who = "schedule " + std::to_string(i) + ": ";
    if (s.rank != static_cast<Rank>(i) || s.ranks != shape.ranks)
      malformed(who + "is for rank " + std::to_string(s.rank) + " of " + std::to_string(s.ranks) + ", not for rank " +
                std::to_string(i) + " of " + std::to_string(shape.ranks));
    if (s.blocks != schedules[0].blocks || s.blocks < 0)
      malformed(who + "has " + counted(s.blocks, "block") + ", schedule 0 has " + std::to_string(schedules[0].blocks));
    // Then nothing would be sent, and there would be no result to be wrong. Parts say themselves who has none.
    if (s.blocks == 0 && !collective.per_rank && question.collective != Collective::barrier)
      malformed(who + "the vector is cut into no blocks");
    if (s.parts != schedules[0].parts) malformed(who + "has other parts than schedule 0");
    if ((collective.pairwise || collective.neighbourhood) && !s.parts.first.empty())
      malformed(who + "has parts, but the blocks of " + name + " are not cut");
    if (!s.parts.first.empty() && s.parts.first.size() != static_cast<std::size_t>(shape.ranks) + 1)
      malformed(who + "has " + counted(static_cast<Block>(s.parts.first.size()) - 1, "part"));
    if (collective.neighbourhood) {
      if (const Block most = graph_of(shape)->slots(); s.blocks != most)
        malformed(who + "has " + counted(s.blocks, "block") + ", but a rank of the graph has up to " +
                  counted(most, "neighbour"));
    } else if (collective.per_rank && s.blocks != s.parts.begin(shape.ranks))
      malformed(who + name + " has a part for each rank, " + counted(s.parts.begin(shape.ranks), "block") +
                " in all, not " + std::to_string(s.blocks));
    if (s.blocks > most_locations) malformed(who + "too many blocks to check: " + std::to_string(s.blocks));
    locations += 2 * s.blocks + static_cast<std::int64_t>(s.scratch.size());
    if (locations > most_locations) malformed(who + "too many blocks to check");
    words += static_cast<std::int64_t>(1 + s.sends.size()) * (shape.ranks / 64 + 1);
    if (question.collective == Collective::barrier && words > most_words) malformed(who + "too many messages to check");
    const Block known = collective.pairwise        ? s.blocks * shape.ranks
                        : collective.neighbourhood ? Block{shape.ranks}
                                                   : s.blocks;
    for (const Scratch::Run& run : s.scratch.runs())
      if (const Block last = run.first + run.count - 1; run.first < 0 || last >= known)
        malformed(who + "scratch for block " + std::to_string(run.first < 0 ? run.first : std::max(run.first, known)) +
                  ", which does not exist");
  }
}

struct Written {
  std::int64_t action = 0;
  std::size_t position = 0;
};

struct Form {
  const Schedule& schedule;
  const Question& question;
  std::int64_t& blocks_left;  // that messages and actions may still speak of: all ranks share it
  Layout layout{schedule, question};
  std::size_t round_index = 0;  // which round is looked at
  std::int64_t number = 0;      // of the action, in all rounds
  /// For every location, by which action it was last written.
  std::vector<Written> last_written = std::vector<Written>(static_cast<std::size_t>(layout.size()));
  std::vector<Location> targets = {}, operands = {};

  void check() {
    for (; round_index < schedule.rounds.size(); ++round_index) {
      const Round& round = schedule.rounds[round_index];
      for (const Send& send : schedule.sends_of(round)) {
        check_peer(send.peer, "sends to");
        check_slots(send.blocks);
      }
      for (const Action& action : schedule.actions_of(round)) check_action(action);
    }
  }

  [[noreturn]] void no(const std::string& what) const { malformed(where(schedule.rank, round_index) + what); }

  void check_peer(Rank peer, const std::string& verb) const {
    if (peer == schedule.rank) no(verb + " itself instead of copying");
    if (peer < 0 || peer >= schedule.ranks)
      no(verb + " rank " + std::to_string(peer) + " of " + std::to_string(schedule.ranks));
  }

  void check_slots(Slice slice) {
    for (const Range& r : schedule.at(slice)) {
      const Block slots = r.buffer == Buffer::scratch ? static_cast<Block>(schedule.scratch.size()) : schedule.blocks;
      const auto slot = [&](Block b) { return std::string(name_of(r.buffer)) + '[' + std::to_string(b) + ']'; };
      if (r.count <= 0) no("a range of " + counted(r.count, "block") + " from " + slot(r.first) + " on");
      if (r.first < 0 || r.first > slots - r.count)
        no(slot(r.first < 0 ? r.first : r.first + r.count - 1) + " does not exist: " + std::string(name_of(r.buffer)) +
           " has " + counted(slots, "slot"));
      if ((blocks_left -= r.count) < 0) no("here messages and actions are too many to check");
      for (Block b = r.first; b < r.first + r.count; ++b)
        if (!slot_exists(question.collective, question.shape, schedule.parts, schedule.rank, r.buffer, b))
          no(std::string(facts(question.collective).name) + " gives this rank no " + slot(b));
    }
  }

  void check_action(const Action& action) {
    const bool receives = is_receive(action.kind);
    if (receives) check_peer(action.peer, "receives from");
    for (Slice s : {action.target, action.source, action.operand}) check_slots(s);
    for (const Range& r : schedule.at(action.target))
      if (r.buffer == Buffer::input) no("writes input[" + std::to_string(r.first) + ']');
    layout.locate(schedule.at(action.target), targets);
    if (action.kind == ActionKind::receive) return;  // a slot that it receives twice is found with the other hazards
    ++number;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      Written& written = last_written[static_cast<std::size_t>(targets[i])];
      if (written.action == number) no("writes " + layout.name(targets[i]) + " twice in one action");
      written = {number, i};
    }
    if (action.kind != ActionKind::receive_reduce) check_operand(action.source);
    if (action.kind != ActionKind::copy) check_operand(action.operand);
  }

  // Slot by slot of the target's blocks, and not in reach of what the action itself writes at another position.
  void check_operand(Slice operand) {
    layout.locate(schedule.at(operand), operands);
    if (operands.size() != targets.size())
      no("an operand of " + counted(static_cast<Block>(operands.size()), "block") + " for a target of " +
         std::to_string(targets.size()));
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Block has = layout.block(operands[i]), needs = layout.block(targets[i]);
      if (has != needs)
        no(layout.name(operands[i]) + " holds block " + std::to_string(has) + ", its target " +
           layout.name(targets[i]) + " block " + std::to_string(needs));
      const Written& written = last_written[static_cast<std::size_t>(operands[i])];
      if (written.action == number && written.position != i)
        no("reads " + layout.name(operands[i]) + " and writes it in the same action, at another place");
    }
  }
};

}  // namespace

void check_form(std::span<const Schedule> schedules, const Question& question) {
  check_question(schedules, question);
  std::int64_t blocks_left = most_blocks;
  for (const Schedule& s : schedules) Form{s, question, blocks_left}.check();
}

}  // namespace stretto::checking

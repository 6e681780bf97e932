// SPDX-License-Identifier: BSD-3-Clause
//
// Why no rank can move: a message or a receive that does not exist, or a cycle of ranks that wait for each other.
#include <algorithm>

#include "check/machine.hpp"
#include "check/refuse.hpp"

namespace stretto::checking {
namespace {

constexpr std::size_t longest_cycle = 8;  // that is named in full

// The round whose part of a rank's sends or actions, given by `part`, holds number `i`.
template <typename Part>
std::size_t round_with(const Schedule& s, std::int64_t i, Part part) {
  std::size_t round = 0;
  while (i >= static_cast<std::int64_t>(part(s.rounds[round]).first + part(s.rounds[round]).count)) ++round;
  return round;
}

}  // namespace

std::size_t Machine::round_of_send(Rank rank, std::int64_t number) const {
  return round_with(schedule(rank), number - matching_.send(rank, 0), [](const Round& r) { return r.sends; });
}

std::size_t Machine::round_of_action(Rank rank, std::int64_t number) const {
  return round_with(schedule(rank), number - matching_.action(rank, 0), [](const Round& r) { return r.actions; });
}

std::vector<Machine::Wait> Machine::waits(Rank rank) const {
  std::vector<Wait> list;
  const Round& now = round(rank);
  for (std::size_t i = now.actions.first; i < now.actions.first + now.actions.count; ++i) {
    const Action& a = schedule(rank).actions[i];
    if (!is_receive(a.kind)) continue;
    const std::int64_t send = send_taken_by(rank, i);
    if (send == Matching::none || !messages_[index(send)].posted) list.push_back({a.peer, true, send});
  }
  for (std::size_t i = now.sends.first; i < now.sends.first + now.sends.count; ++i) {
    const std::int64_t taker = matching_.action_of_send[index(matching_.send(rank, i))];
    if (taker == Matching::none || !receive_posted_[index(taker)])
      list.push_back({schedule(rank).sends[i].peer, false, taker});
  }
  return list;
}

void Machine::refuse_hang() const {
  Rank stuck = no_rank;
  for (Rank r = 0; r < static_cast<Rank>(schedules_.size()); ++r) {
    if (done(r)) continue;
    if (stuck == no_rank) stuck = r;
    for (const Wait& wait : waits(r)) {
      if (wait.other != Matching::none) continue;
      const std::string peer = "rank " + std::to_string(wait.peer);
      refuse(Refusal::unmatched_message,
             where(r, state(r).round) + (wait.for_message ? "awaits a message that " + peer + " never sends"
                                                          : "sends a message that " + peer + " never receives"));
    }
  }
  // What a rank waits for comes in a later round of a rank that is stuck itself, so this walk ends in a cycle.
  std::vector<Rank> path;
  for (auto seen = path.end(); seen == path.end(); seen = std::find(path.begin(), path.end(), stuck)) {
    path.push_back(stuck);
    stuck = waits(stuck).front().peer;
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), stuck));
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
  std::string message;
  for (std::size_t i = 0; i < std::min(path.size(), longest_cycle); ++i) {
    const Wait wait = waits(path[i]).front();
    const std::size_t later =
        wait.for_message ? round_of_send(wait.peer, wait.other) : round_of_action(wait.peer, wait.other);
    message += (i > 0 ? "; rank " : "rank ") + std::to_string(path[i]) + " waits in round " +
               std::to_string(state(path[i]).round + 1) + " for rank " + std::to_string(wait.peer) +
               (wait.for_message ? " to send" : " to receive") + " in round " + std::to_string(later + 1);
  }
  if (path.size() > longest_cycle) message += "; and so on, " + std::to_string(path.size()) + " ranks in a cycle";
  refuse(Refusal::deadlock, message);
}

}  // namespace stretto::checking

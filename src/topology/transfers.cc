// SPDX-License-Identifier: BSD-3-Clause
//
// When each message of a schedule is under way: the clock of rounds that the checker has as well, without the blocks.
#include <algorithm>
#include <tuple>

#include "check/matching.hpp"
#include "stretto/error.hpp"
#include "stretto/topology.hpp"

namespace stretto {
namespace {

constexpr std::size_t most_messages = std::size_t{1} << 21;  // more take gigabytes; a ring of 1024 ranks

bool is_receive(const Action& a) { return a.kind == ActionKind::receive || a.kind == ActionKind::receive_reduce; }

class Clock {
 public:
  explicit Clock(std::span<const Schedule> schedules)
      : schedules_(schedules),
        matching_(checking::match(schedules)),
        begins_(schedules.size(), {0}),
        waiting_(schedules.size()) {
    for (const Schedule& s : schedules)
      for (std::size_t round = 0; round < s.rounds.size(); ++round)
        rounds_.insert(rounds_.end(), s.rounds[round].sends.count, round);
  }

  std::vector<Transfer> run() {
    std::vector<Rank> ready;
    for (Rank r = static_cast<Rank>(schedules_.size()) - 1; r >= 0; --r) ready.push_back(r);
    while (!ready.empty()) {
      const Rank rank = ready.back();
      ready.pop_back();
      while (leave_round(rank)) {
        ready.insert(ready.end(), waiting_[at(rank)].begin(), waiting_[at(rank)].end());
        waiting_[at(rank)].clear();
      }
    }
    for (const Schedule& s : schedules_)
      if (begins_[at(s.rank)].size() <= s.rounds.size())
        throw Error("rank " + std::to_string(s.rank) + " waits for ever in its round " +
                        std::to_string(begins_[at(s.rank)].size()),
                    "`stretto check` says what is wrong with a file of schedules");
    std::stable_sort(found_.begin(), found_.end(), [](const Transfer& a, const Transfer& b) {
      return std::tie(a.step, a.from, a.to) < std::tie(b.step, b.from, b.to);
    });
    return std::move(found_);
  }

 private:
  static std::size_t at(std::int64_t number) { return static_cast<std::size_t>(number); }

  /// False if the rank is at its end, or has to wait for another to enter a round.
  bool leave_round(Rank rank) {
    const Schedule& s = schedules_[at(rank)];
    const std::size_t number = begins_[at(rank)].size() - 1;
    if (number == s.rounds.size()) return false;
    const Round& round = s.rounds[number];
    const std::int64_t begin = begins_[at(rank)].back();
    std::int64_t end = begin;
    bool speaks = round.sends.count > 0;
    arriving_.clear();
    for (std::size_t i = round.actions.first; i < round.actions.first + round.actions.count; ++i) {
      const Action& action = s.actions[i];
      if (!is_receive(action)) continue;
      const std::int64_t send = matching_.send_of_action[at(matching_.action(rank, i))];
      const std::vector<std::int64_t>& begins = begins_[at(action.peer)];
      if (send == checking::Matching::none || begins.size() <= rounds_[at(send)]) {
        waiting_[at(action.peer)].push_back(rank);
        return false;
      }
      const std::int64_t sent = begins[rounds_[at(send)]];
      end = std::max(end, sent);
      speaks = true;
      arriving_.push_back({1 + std::max(begin, sent), action.peer, rank, blocks_in(s.at(action.target))});
    }
    found_.insert(found_.end(), arriving_.begin(), arriving_.end());
    begins_[at(rank)].push_back(end + (speaks ? 1 : 0));
    return true;
  }

  std::span<const Schedule> schedules_;
  checking::Matching matching_;
  std::vector<std::size_t> rounds_;                // of each send, the round of its rank
  std::vector<std::vector<std::int64_t>> begins_;  // of each rank's rounds so far, and of what follows them
  std::vector<std::vector<Rank>> waiting_;         // for each rank, those that wait for it to go on
  std::vector<Transfer> arriving_, found_;
};

}  // namespace

std::vector<Transfer> transfers(std::span<const Schedule> schedules) { return Clock(schedules).run(); }

std::vector<Transfer> transfers(const Algorithm& algorithm, const Shape& shape, const Params& params) {
  std::vector<Schedule> schedules;
  std::size_t sends = 0;
  for (Rank r = 0; r < shape.ranks; ++r) {
    schedules.push_back(build_schedule(algorithm, shape, r, params));
    sends += schedules.back().sends.size();
    if (sends > most_messages)
      throw Error(std::string(algorithm.id) + " on " + std::to_string(shape.ranks) +
                      " ranks sends too many messages to look at",
                  "take fewer ranks");
  }
  return transfers(schedules);
}

}  // namespace stretto

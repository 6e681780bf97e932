// SPDX-License-Identifier: BSD-3-Clause
#include "check/matching.hpp"

#include <algorithm>

namespace stretto::checking {
namespace {

// One end of a message, in its rank's order.
struct End {
  std::uint64_t channel;
  std::int64_t index;
};

std::uint64_t channel(Rank from, Rank to) {
  return std::uint64_t{static_cast<std::uint32_t>(from)} << 32 | static_cast<std::uint32_t>(to);
}

void sort(std::vector<End>& ends) {
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
    return a.channel != b.channel ? a.channel < b.channel : a.index < b.index;
  });
}

}  // namespace

Matching match(std::span<const Schedule> schedules) {
  Matching m;
  std::vector<End> sends, receives;
  std::int64_t send = 0, action = 0;
  for (const Schedule& s : schedules) {
    m.first_send.push_back(send);
    m.first_action.push_back(action);
    for (const Send& x : s.sends) sends.push_back({channel(s.rank, x.peer), send++});
    for (const Action& a : s.actions) {
      if (is_receive(a.kind)) receives.push_back({channel(a.peer, s.rank), action});
      ++action;
    }
  }
  m.first_send.push_back(send);
  m.first_action.push_back(action);
  m.action_of_send.assign(static_cast<std::size_t>(send), Matching::none);
  m.send_of_action.assign(static_cast<std::size_t>(action), Matching::none);
  sort(sends);
  sort(receives);
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

}  // namespace stretto::checking

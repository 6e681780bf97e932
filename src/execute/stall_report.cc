// SPDX-License-Identifier: BSD-3-Clause
#include "execute/operation.hpp"

namespace stretto::execute {

std::string stall_report(const Schedule& schedule, const std::vector<Stall>& stalls, const std::string& call) {
  std::string text = "rank " + std::to_string(schedule.rank) + " of " + std::to_string(schedule.ranks) + " hangs in " +
                     call + ", algorithm " + schedule.algorithm;
  for (const Stall& s : stalls) {
    text += "\n  segment " + std::to_string(s.segment) + ", round " + std::to_string(s.round + 1) + " of " +
            std::to_string(schedule.rounds.size()) + ", waits";
    for (std::size_t i = 0; i < s.awaited.size(); ++i) {
      const Awaited& a = s.awaited[i];
      text += std::string(i == 0 ? " to " : " and to ") + (a.send ? "send " : "receive ") + std::to_string(a.bytes) +
              " bytes " + (a.send ? "to" : "from") + " rank " + std::to_string(a.peer);
    }
  }
  return text + "\nthe schedule:\n" + to_text(schedule);
}

}  // namespace stretto::execute

// SPDX-License-Identifier: BSD-3-Clause
//
// Mutants: the checker refuses every single small change of a right schedule, but for those that change no result.
#include <set>

#include "stretto/check.hpp"
#include "support/schedules.hpp"
#include "support/test.hpp"

namespace stretto::mutants_test {
namespace {

void shrink(Slice& part, std::uint32_t dropped) {
  if (part.first > dropped)
    --part.first;
  else if (dropped < part.first + part.count)
    --part.count;
}

Schedule without_send(Schedule s, std::uint32_t i) {
  s.sends.erase(s.sends.begin() + i);
  for (Round& r : s.rounds) shrink(r.sends, i);
  return s;
}

Schedule without_action(Schedule s, std::uint32_t i) {
  s.actions.erase(s.actions.begin() + i);
  for (Round& r : s.rounds) shrink(r.actions, i);
  return s;
}

struct Mutant {
  std::string name;
  Schedule schedule;
};

std::vector<Mutant> mutants_of(const Schedule& s) {
  std::vector<Mutant> list;
  const auto add = [&](const std::string& what, std::size_t i, Schedule mutant) {
    list.push_back({"rank " + std::to_string(s.rank) + ": " + what + ' ' + std::to_string(i), std::move(mutant)});
  };
  const auto change = [&](const std::string& what, std::size_t i, auto edit) {
    Schedule mutant = s;
    edit(mutant);
    add(what, i, std::move(mutant));
  };
  for (std::uint32_t i = 0; i < s.sends.size(); ++i) {
    add("drop send", i, without_send(s, i));
    for (Rank peer = -1; peer <= s.ranks; ++peer)
      if (peer != s.sends[i].peer) change("redirect send", i, [&](Schedule& m) { m.sends[i].peer = peer; });
  }
  for (std::uint32_t i = 0; i < s.actions.size(); ++i) {
    const ActionKind kind = s.actions[i].kind;
    add("drop action", i, without_action(s, i));
    if (is_receive(kind))
      for (Rank peer = -1; peer <= s.ranks; ++peer)
        if (peer != s.actions[i].peer) change("redirect receive", i, [&](Schedule& m) { m.actions[i].peer = peer; });
    if (kind == ActionKind::reduce || kind == ActionKind::receive_reduce)
      change("swap sides of action", i,
             [&](Schedule& m) { m.actions[i].side = m.actions[i].side == Side::left ? Side::right : Side::left; });
  }
  for (std::size_t i = 0; i < s.ranges.size(); ++i) {
    change("shift up range", i, [&](Schedule& m) { ++m.ranges[i].first; });
    change("shift down range", i, [&](Schedule& m) { --m.ranges[i].first; });
    change("lengthen range", i, [&](Schedule& m) { ++m.ranges[i].count; });
    change("shorten range", i, [&](Schedule& m) { --m.ranges[i].count; });
  }
  return list;
}

TEST(mutants_are_refused) {
  std::size_t mutants = 0;
  std::set<std::string> passed;
  for (const test::Right& v : test::right_schedules) {
    const std::vector<Schedule> right = test::all_ranks(v.ranks, v.blocks, v.build);
    for (std::size_t r = 0; r < right.size(); ++r)
      for (Mutant& m : mutants_of(right[r])) {
        std::vector<Schedule> schedules = right;
        schedules[r] = std::move(m.schedule);
        ++mutants;
        if (!check(schedules, test::question_of(v)).refused) passed.insert(v.name + ", " + m.name);
      }
  }
  // Each block of pairwise stands on one rank only in the end, and its operator commutes: either side is right.
  std::set<std::string> equivalent;
  for (Rank r = 0; r < 4; ++r)
    for (int action = 1; action <= 3; ++action)
      equivalent.insert("pairwise, rank " + std::to_string(r) + ": swap sides of action " + std::to_string(action));
  for (const std::string& name : passed) CHECK_EQ(name + (equivalent.contains(name) ? "" : " is proved"), name);
  CHECK_EQ(passed.size(), equivalent.size());
  CHECK_EQ(mutants, 3577);
}

}  // namespace
}  // namespace stretto::mutants_test

// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/check.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "stretto/builder.hpp"
#include "support/test.hpp"

namespace stretto {
namespace {

using Build = std::function<void(Builder&)>;

std::vector<Schedule> all_ranks(Rank ranks, Block blocks, const Build& build) {
  std::vector<Schedule> schedules;
  for (Rank r = 0; r < ranks; ++r) {
    Builder b(r, ranks, blocks);
    build(b);
    schedules.push_back(b.finish());
  }
  return schedules;
}

std::string verdict(const Checked& checked) {
  if (!checked.refused) return "proved";
  return std::string(name_of(checked.refused->why)) + ": " + checked.refused->message;
}

// Schedules that are right, written here so that the test does not rest on the list of algorithms.

// Powers of two only.
void doubling_allreduce(Builder& b) {
  Ranges sum = input(0);
  for (Rank distance = 1; distance < b.ranks(); distance *= 2) {
    const Rank peer = b.rank() ^ distance;
    const Ranges next = scratch(b.new_scratch(0, 1));
    b.round();
    b.send(peer, sum);
    b.receive_reduce(peer, next, peer < b.rank() ? Side::left : Side::right, sum);
    sum = next;
  }
  b.round();  // in place the output is what the last round may still send
  b.copy(sum, output(0));
}

void ring_allgather(Builder& b) {
  const Rank p = b.ranks(), next = (b.rank() + 1) % p, previous = (b.rank() + p - 1) % p;
  b.copy(input(b.rank()), output(b.rank()));
  for (Rank t = 0; t + 1 < p; ++t) {
    b.round();
    b.send(next, wrapped(Buffer::output, b.rank() - t, 1, p));
    b.receive(previous, wrapped(Buffer::output, b.rank() - t - 1, 1, p));
  }
}

void dissemination(Builder& b) {
  for (Rank skip = 1; skip < b.ranks(); skip *= 2) {
    b.round();
    b.send((b.rank() + skip) % b.ranks(), {});
    b.receive((b.rank() + b.ranks() - skip) % b.ranks(), {});
  }
}

void chain_bcast(Builder& b) {
  if (b.rank() > 0) b.receive(b.rank() - 1, output(0, b.blocks()));
  b.round();
  if (b.rank() + 1 < b.ranks()) b.send(b.rank() + 1, output(0, b.blocks()));
}

void chain_reduce(Builder& b) {
  const bool root = b.rank() == 0, last = b.rank() + 1 == b.ranks();
  const Ranges sum = root ? output(0) : scratch(b.new_scratch(0, 1));
  if (last) b.copy(input(0), sum);
  if (!last) b.receive_reduce(b.rank() + 1, sum, Side::right, input(0));
  b.round();
  if (!root) b.send(b.rank() - 1, sum);
}

void pairwise_reduce_scatter(Builder& b) {
  const Rank p = b.ranks();
  b.copy(input(b.rank()), output(b.rank()));
  for (Rank t = 1; t < p; ++t) {
    b.round();
    b.send((b.rank() + t) % p, input((b.rank() + t) % p));
    b.receive_reduce((b.rank() + p - t) % p, output(b.rank()), Side::left);
  }
}

struct Valid {
  std::string name;
  Collective collective;
  Rank ranks;
  Block blocks;
  bool commutative;
  Build build;
  Measured expected;
};

const std::vector<Valid> valid{
    {"doubling on 2", Collective::allreduce, 2, 1, false, doubling_allreduce, {1, 1, 1, 2}},
    {"doubling on 4", Collective::allreduce, 4, 1, false, doubling_allreduce, {2, 2, 2, 8}},
    {"doubling on 8", Collective::allreduce, 8, 1, false, doubling_allreduce, {3, 3, 3, 24}},
    {"ring", Collective::allgather, 4, 4, false, ring_allgather, {3, 3, 0, 12}},
    {"dissemination", Collective::barrier, 5, 0, false, dissemination, {3, 0, 0, 15}},
    {"chain of bcast", Collective::bcast, 4, 2, false, chain_bcast, {3, 6, 0, 3}},
    {"chain of reduce", Collective::reduce, 4, 1, false, chain_reduce, {3, 3, 3, 3}},
    {"pairwise", Collective::reduce_scatter_block, 4, 4, true, pairwise_reduce_scatter, {3, 3, 3, 12}},
};

Question question_of(const Valid& v, bool in_place = false) {
  return {.collective = v.collective, .shape = {v.ranks, 0}, .commutative = v.commutative, .in_place = in_place};
}

TEST(right_schedules_pass) {
  for (const Valid& v : valid) {
    for (bool in_place : {false, true}) {
      if (in_place && !may_alias(v.collective)) continue;
      const Checked checked = check(all_ranks(v.ranks, v.blocks, v.build), question_of(v, in_place));
      CHECK_EQ(v.name + ' ' + verdict(checked), v.name + " proved");
      CHECK_EQ(checked.measured.rounds, v.expected.rounds);
      CHECK_EQ(checked.measured.sent, v.expected.sent);
      CHECK_EQ(checked.measured.combined, v.expected.combined);
      CHECK_EQ(checked.measured.messages, v.expected.messages);
    }
  }
}

TEST(right_schedules_pass_on_many_ranks) {
  for (Rank p : {1, 2, 3, 6, 7, 63, 64, 65, 130}) {
    const auto proves = [p](Collective c, Block blocks, bool commutative, const Build& build) {
      const Question q{.collective = c, .shape = {p, 0}, .commutative = commutative};
      CHECK_EQ(verdict(check(all_ranks(p, blocks, build), q)), "proved");
    };
    proves(Collective::allgather, p, false, ring_allgather);
    proves(Collective::barrier, 0, false, dissemination);
    proves(Collective::bcast, 3, false, chain_bcast);
    proves(Collective::reduce, 1, false, chain_reduce);
    proves(Collective::reduce_scatter_block, p, true, pairwise_reduce_scatter);
  }
}

TEST(rounds_are_counted_along_the_longest_chain) {
  const auto schedules = all_ranks(4, 2, chain_bcast);
  const Checked checked = check(schedules, {.collective = Collective::bcast, .shape = {4, 0}});
  CHECK(checked.round_ends == (std::vector<std::vector<std::int64_t>>{{1}, {1, 2}, {2, 3}, {3}}));
  // A round that only copies takes no step.
  const auto gather = all_ranks(2, 2, ring_allgather);
  const Checked copied = check(gather, {.collective = Collective::allgather, .shape = {2, 0}});
  CHECK(copied.round_ends == (std::vector<std::vector<std::int64_t>>{{0, 1}, {0, 1}}));
}

TEST(order_matters_only_without_commutativity) {
  const auto schedules = all_ranks(3, 3, pairwise_reduce_scatter);
  Question q{.collective = Collective::reduce_scatter_block, .shape = {3, 0}, .commutative = true};
  CHECK_EQ(verdict(check(schedules, q)), "proved");
  q.commutative = false;
  CHECK_EQ(verdict(check(schedules, q)), "wrong order: rank 1, round 3: output[1] would be 2 . (0 . 1)");
}

TEST(questions_that_do_not_fit) {
  const auto schedules = all_ranks(3, 3, ring_allgather);
  const auto answer = [&](Collective c, Shape shape, bool in_place) {
    return verdict(check(schedules, {.collective = c, .shape = shape, .in_place = in_place}));
  };
  CHECK_EQ(answer(Collective::allgather, {3, 0}, true), "proved");
  CHECK_EQ(answer(Collective::bcast, {3, 3}, false), "malformed: root 3 of 3 ranks");
  CHECK_EQ(answer(Collective::allgather, {4, 0}, false), "malformed: 3 schedules for 4 ranks");
  CHECK_EQ(answer(Collective::bcast, {3, 0}, true), "malformed: bcast has no in-place form");
  auto swapped = schedules;
  std::swap(swapped[0], swapped[1]);
  CHECK_EQ(verdict(check(swapped, {.collective = Collective::allgather, .shape = {3, 0}})),
           "malformed: schedule 0: is for rank 1 of 3, not for rank 0 of 3");
}

// tests/broken: each file says in comments what is asked and what must be answered.

struct Broken {
  std::string file, text;

  std::string field(const std::string& name) const {
    const std::string mark = "\n# " + name + ": ";
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + mark.size();
    return text.substr(begin, text.find('\n', begin) - begin);
  }
};

std::vector<Broken> broken_schedules() {
  std::vector<Broken> list;
  for (const auto& entry : std::filesystem::directory_iterator(STRETTO_BROKEN_DIR)) {
    if (entry.path().extension() != ".schedule") continue;
    std::ifstream in(entry.path());
    list.push_back({entry.path().filename().string(), std::string(std::istreambuf_iterator<char>(in), {})});
  }
  std::sort(list.begin(), list.end(), [](const Broken& a, const Broken& b) { return a.file < b.file; });
  return list;
}

Checked answer(const Broken& broken) {
  const std::vector<Schedule> schedules = parse_schedules(broken.text, broken.file);
  const Shape shape{static_cast<Rank>(schedules.size()), schedules.at(0).root};
  if (const std::string id = broken.field("algorithm"); !id.empty()) {
    const Algorithm* algorithm = find_algorithm(id);
    CHECK(algorithm != nullptr);
    return algorithm == nullptr ? Checked{} : check_against_record(schedules, *algorithm, shape);
  }
  return check(schedules, {.collective = collective_named(broken.field("collective")).value(),
                           .shape = shape,
                           .commutative = broken.field("commutative") == "yes",
                           .in_place = broken.field("in-place") == "yes"});
}

TEST(broken_schedules_are_refused) {
  std::set<Refusal> seen;
  for (const Broken& broken : broken_schedules()) {
    const Checked checked = answer(broken);
    CHECK_EQ(broken.file + ": " + verdict(checked), broken.file + ": " + broken.field("expect"));
    if (checked.refused) seen.insert(checked.refused->why);
  }
  for (int r = 0; r <= static_cast<int>(Refusal::wrong_cost); ++r)
    CHECK_EQ(std::string(name_of(static_cast<Refusal>(r))) + (seen.contains(static_cast<Refusal>(r)) ? "" : " unseen"),
             name_of(static_cast<Refusal>(r)));
}

TEST(records_are_compared_field_by_field) {
  const auto schedules = all_ranks(4, 1, doubling_allreduce);
  constexpr auto one = [](const Shape&) { return std::int64_t{1}; };
  constexpr auto two = [](const Shape&) { return std::int64_t{2}; };
  const Algorithm right{.id = "x",
                        .summary = {},
                        .source = {},
                        .volume = {},
                        .collective = Collective::allreduce,
                        .needs = {},
                        .blocks = one,
                        .rounds = two,
                        .sent = two,
                        .combined = two,
                        .build = nullptr};
  const auto with = [&](auto field, std::int64_t (*value)(const Shape&)) {
    Algorithm changed = right;
    changed.*field = value;
    return verdict(check_against_record(schedules, changed, {4, 0}));
  };
  const std::string refusal = "wrong cost: x on 4 ranks: ";
  CHECK_EQ(verdict(check_against_record(schedules, right, {4, 0})), "proved");
  CHECK_EQ(with(&Algorithm::blocks, two), refusal + "blocks: 1 counted, 2 in the record");
  CHECK_EQ(with(&Algorithm::rounds, one), refusal + "rounds: 2 counted, 1 in the record");
  CHECK_EQ(with(&Algorithm::sent, one), refusal + "blocks sent: 2 counted, 1 in the record");
  CHECK_EQ(with(&Algorithm::combined, one), refusal + "blocks combined: 2 counted, 1 in the record");
}

// Mutants: every single small change of a right schedule is refused, but for those that change no result.

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
    if (kind == ActionKind::receive || kind == ActionKind::receive_reduce)
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
  for (const Valid& v : valid) {
    const std::vector<Schedule> right = all_ranks(v.ranks, v.blocks, v.build);
    for (std::size_t r = 0; r < right.size(); ++r)
      for (Mutant& m : mutants_of(right[r])) {
        std::vector<Schedule> schedules = right;
        schedules[r] = std::move(m.schedule);
        ++mutants;
        if (!check(schedules, question_of(v)).refused) passed.insert(v.name + ", " + m.name);
      }
  }
  // Each block of pairwise stands on one rank only in the end, and its operator commutes: either side is right.
  std::set<std::string> equivalent;
  for (Rank r = 0; r < 4; ++r)
    for (int action = 1; action <= 3; ++action)
      equivalent.insert("pairwise, rank " + std::to_string(r) + ": swap sides of action " + std::to_string(action));
  for (const std::string& name : passed) CHECK_EQ(name + (equivalent.contains(name) ? "" : " is proved"), name);
  CHECK_EQ(passed.size(), equivalent.size());
  CHECK_EQ(mutants, 2126);
}

}  // namespace
}  // namespace stretto

TEST_MAIN()

// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/check.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "support/schedules.hpp"
#include "support/test.hpp"

namespace stretto::check_test {
namespace {

using namespace test;

std::string verdict(const Checked& checked) {
  if (!checked.refused) return "proved";
  return std::string(name_of(checked.refused->why)) + ": " + checked.refused->message;
}

TEST(right_schedules_pass) {
  for (const Right& v : right_schedules) {
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
    proves(Collective::reduce_scatter, p, true, pairwise_reduce_scatter);
    proves(Collective::gather, p, false, chain_gather);
    proves(Collective::scatter, p, false, star_scatter);
    proves(Collective::alltoall, p, false, bruck_alltoall);
    proves(Collective::scan, 1, false, chain_scan);
    proves(Collective::exscan, 1, false, chain_exscan);
  }
}

TEST(what_ranks_do_is_recorded) {
  const auto schedules = all_ranks(3, 1, chain_scan);
  const Record found = record(schedules, {.collective = Collective::scan, .shape = {3, 0}});
  CHECK_EQ(found.messages.size(), 2);
  const Delivery& last = found.messages[1];
  CHECK(last.step == 2 && last.from == 1 && last.to == 2 && last.combined);
  CHECK_EQ(found.blocks[last.blocks.first], 0);
  CHECK_EQ(last.blocks.count, 1);
  const Holding &before = found.holdings[2].front(), &after = found.holdings[2].back();
  CHECK_EQ(before.step, 0);
  CHECK_EQ(before.held.size(), 1);
  CHECK_EQ(after.step, 2);
  CHECK(after.held.back().result);
  CHECK(after.held.back().contributions == (std::vector<Rank>{0, 1, 2}));
  // The same messages, where the contents are not followed.
  const std::vector<Delivery> alone = deliveries(schedules);
  CHECK_EQ(alone.size(), 2);
  CHECK(alone[1].step == 2 && alone[1].from == 1 && alone[1].to == 2);
}

/// Of all messages, rank by rank as they are taken.
std::vector<std::int64_t> steps_of(const std::vector<Schedule>& schedules) {
  std::vector<std::int64_t> steps;
  for (const Delivery& message : deliveries(schedules)) steps.push_back(message.step);
  return steps;
}

TEST(rounds_are_counted_along_the_longest_chain) {
  CHECK(steps_of(all_ranks(4, 2, chain_bcast)) == (std::vector<std::int64_t>{1, 2, 3}));
  // A round that only copies takes no step.
  CHECK(steps_of(all_ranks(2, 2, ring_allgather)) == (std::vector<std::int64_t>{1, 1}));
}

TEST(order_matters_only_without_commutativity) {
  const auto schedules = all_ranks(3, 3, pairwise_reduce_scatter);
  Question q{.collective = Collective::reduce_scatter, .shape = {3, 0}, .commutative = true};
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

TEST(a_vector_is_cut_into_at_least_one_block) {
  const auto nothing = [](const Builder&) {};
  for (const Collective c : all_collectives)
    if (!facts(c).per_rank)
      CHECK_EQ(verdict(check(all_ranks(2, 0, nothing), {.collective = c, .shape = {2, 0}})).substr(0, 9),
               c == Collective::barrier ? "wrong res" : "malformed");
  CHECK_EQ(verdict(check(all_ranks(2, 0, nothing), {.collective = Collective::bcast, .shape = {2, 0}})),
           "malformed: schedule 0: the vector is cut into no blocks");
  // Parts may all be empty: as many blocks as there are data.
  const Question gather{.collective = Collective::allgather, .shape = {2, 0}};
  CHECK_EQ(verdict(check(all_ranks(2, 0, nothing, {{0, 0, 0}}), gather)), "proved");
}

// What each collective demands in the end.

/// The verdict on what `build` writes for all ranks; the root is rank 0.
std::string verdict_on(Collective collective, Rank ranks, Block blocks, const Build& build, const Parts& parts = {}) {
  return verdict(check(all_ranks(ranks, blocks, build, parts), {.collective = collective, .shape = {ranks, 0}}));
}

TEST(every_part_is_gathered) {
  CHECK_EQ(verdict_on(Collective::gather, 3, 3,
                      [](Builder& b) {  // only neighbours come
                        b.copy(input(b.rank()), b.rank() == 0 ? output(0) : scratch(b.new_scratch(b.rank(), 1)));
                        if (b.rank() == 0) b.receive(1, output(1));
                        if (b.rank() == 1) b.send(0, input(1));
                      }),
           "wrong result: rank 0 ends with nothing in output[2], not the contribution of rank 2");
  CHECK_EQ(verdict_on(Collective::gather, 2, 2,
                      [](Builder& b) { b.rank() == 0 ? b.receive(1, output(0)) : b.send(0, input(1)); }),
           "misordered message: rank 0, round 1: awaits block 0 from rank 1, which sends block 1 in its round 1");
  CHECK_EQ(verdict_on(Collective::gather, 2, 2,
                      [](Builder& b) { b.rank() == 0 ? b.send(1, input(0)) : b.receive(0, output(0)); }),
           "malformed: rank 1, round 1: gather gives this rank no output[0]");
}

TEST(every_part_is_scattered) {
  CHECK_EQ(verdict_on(Collective::scatter, 3, 3,
                      [](Builder& b) {
                        if (b.rank() == 0) b.send(1, input(1));
                        if (b.rank() == 0) b.copy(input(0), output(0));
                        if (b.rank() == 1) b.receive(0, output(1));
                      }),
           "wrong result: rank 2 ends with nothing in output[2], not the contribution of rank 0");
  CHECK_EQ(verdict_on(Collective::scatter, 2, 2,
                      [](Builder& b) { b.copy(b.rank() == 0 ? input(0) : input(1), output(b.rank())); }),
           "malformed: rank 1, round 1: scatter gives this rank no input[1]");
}

TEST(every_pair_of_an_alltoall_has_its_block) {
  // On rank 1 of 3, block 3 (from 1 to 0) is input[0] and block 1 (from 0 to 1) is output[0].
  CHECK_EQ(verdict_on(Collective::alltoall, 3, 3, [](Builder& b) { b.copy(input(0, 3), output(0, 3)); }),
           "malformed: rank 0, round 1: input[1] holds block 1, its target output[1] block 3");
  CHECK_EQ(verdict_on(Collective::alltoall, 2, 2,
                      [](Builder& b) {
                        b.copy(input(b.rank()), output(b.rank()));
                        b.send(1 - b.rank(), input(b.rank()));
                        b.receive(1 - b.rank(), output(1 - b.rank()));
                      }),
           "misordered message: rank 1, round 1: awaits block 1 from rank 0, which sends block 0 in its round 1");
  CHECK_EQ(verdict_on(Collective::alltoall, 2, 2, [](Builder& b) { b.copy(input(b.rank()), output(b.rank())); }),
           "wrong result: rank 1 ends with nothing in output[0], not the contribution of rank 0");
  CHECK_EQ(verdict_on(Collective::alltoall, 2, 2, [](Builder& b) { b.new_scratch(3, 1); }).substr(0, 12),
           "wrong result");
  CHECK_EQ(verdict_on(Collective::alltoall, 2, 2, [](Builder& b) { b.new_scratch(4, 1); }),
           "malformed: schedule 0: scratch for block 4, which does not exist");
}

TEST(prefixes_end_at_their_rank) {
  CHECK_EQ(verdict_on(Collective::scan, 4, 1, doubling_allreduce),
           "wrong result: rank 0 ends with a reduction over ranks 0-3 in output[0], not the reduction of ranks 0 to 0");
  CHECK_EQ(verdict_on(Collective::scan, 3, 1, [](Builder& b) { b.copy(input(0), output(0)); }),
           "wrong result: rank 1 ends with the contribution of rank 1 in output[0], without rank 0");
  CHECK_EQ(verdict_on(Collective::exscan, 3, 1, chain_scan),
           "malformed: rank 0, round 1: exscan gives this rank no output[0]");
  CHECK_EQ(verdict_on(Collective::exscan, 3, 1,
                      [](Builder& b) {  // everybody has its neighbour's contribution only
                        if (b.rank() + 1 < b.ranks()) b.send(b.rank() + 1, input(0));
                        if (b.rank() > 0) b.receive(b.rank() - 1, output(0));
                      }),
           "wrong result: rank 2 ends with the contribution of rank 1 in output[0], without rank 0");
  // The brackets of prefixes may differ from rank to rank, and their ranks from those of a chain.
  CHECK_EQ(verdict_on(Collective::scan, 3, 1,
                      [](Builder& b) {
                        if (b.rank() < 2) b.copy(input(0), output(0));
                        if (b.rank() == 1) b.send(2, input(0));
                        if (b.rank() == 2) b.receive_reduce(1, output(0), Side::left, input(0));
                        b.round();
                        if (b.rank() == 0) b.send(1, input(0)), b.send(2, input(0));
                        if (b.rank() > 0) b.receive_reduce(0, output(0), Side::left);
                      }),
           "proved");
}

// Parts: rank 0 has one block, rank 1 none, rank 2 three and rank 3 one.

const Parts parts{{0, 1, 1, 4, 5}};

Ranges part(Buffer buffer, Rank rank) { return {{buffer, parts.begin(rank), parts.end(rank) - parts.begin(rank)}}; }

/// Rank 0 gathers and then everybody gets it all.
void star_of_parts(Builder& b) {
  const Rank p = b.ranks(), me = b.rank();
  b.copy(part(Buffer::input, me), part(Buffer::output, me));
  b.round();
  if (me != 0) b.send(0, part(Buffer::input, me));
  for (Rank r = 1; r < p && me == 0; ++r) b.receive(r, part(Buffer::output, r));
  b.round();
  for (Rank r = 1; r < p && me == 0; ++r) b.send(r, output(0, b.blocks()));
  if (me != 0) b.receive(0, output(0, b.blocks()));
}

TEST(parts_may_be_cut_into_blocks) {
  Question q{.collective = Collective::allgather, .shape = {4, 0}};
  const auto schedules = all_ranks(4, 5, star_of_parts, parts);
  for (const bool in_place : {false, true}) {
    q.in_place = in_place;
    const Checked checked = check(schedules, q);
    CHECK_EQ(verdict(checked), "proved");
    CHECK_EQ(checked.measured.sent, 4 + 15);
  }
  CHECK_EQ(verdict(check(all_ranks(4, 4, ring_allgather, {{0, 1, 2, 3, 4}}), q)), "proved");
}

TEST(parts_that_do_not_fit) {
  const auto with = [](const Parts& others, Block blocks = 5, Collective collective = Collective::allgather) {
    return verdict_on(collective, 4, blocks, star_of_parts, others);
  };
  CHECK_EQ(with({}, 5), "malformed: schedule 0: allgather has a part for each rank, 4 blocks in all, not 5");
  CHECK_EQ(with({{0, 1, 1, 4, 4}}),
           "malformed: schedule 0: allgather has a part for each rank, 4 blocks in all, not 5");
  CHECK_EQ(with({{0, 1, 4, 5}}), "malformed: schedule 0: has 3 parts");
  CHECK_EQ(with({{0, 1, 2, 4, 5}}), "malformed: rank 2, round 1: allgather gives this rank no input[1]");
  CHECK_EQ(with(parts, 5, Collective::gather), "malformed: rank 1, round 2: gather gives this rank no output[0]");
  auto schedules = all_ranks(4, 5, star_of_parts, parts);
  schedules[2].parts.first[1] = 0;
  CHECK_EQ(verdict(check(schedules, {.collective = Collective::allgather, .shape = {4, 0}})),
           "malformed: schedule 2: has other parts than schedule 0");
}

TEST(every_block_of_a_part_counts) {
  const auto scatter = [](Rank forgetful, Block forgotten) {
    return [=](Builder& b) {
      for (Rank r = 0; r < b.ranks(); ++r) {
        Ranges all = part(Buffer::input, r), here = part(Buffer::output, r);
        if (r == forgetful) all[0].count -= forgotten, here[0].count -= forgotten;
        if (b.rank() == 0 && r == 0) b.copy(all, here);
        if (b.rank() == 0 && r != 0) b.send(r, all);
        if (b.rank() == r && r != 0) b.receive(0, here);
      }
    };
  };
  CHECK_EQ(verdict_on(Collective::scatter, 4, 5, scatter(2, 0), parts), "proved");
  CHECK_EQ(verdict_on(Collective::scatter, 4, 5, scatter(2, 1), parts),
           "wrong result: rank 2 ends with nothing in output[3], not the contribution of rank 0");
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
  constexpr auto one = [](const Shape&, const Params&) { return std::int64_t{1}; };
  constexpr auto two = [](const Shape&, const Params&) { return std::int64_t{2}; };
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
  const auto with = [&](auto field, std::int64_t (*value)(const Shape&, const Params&)) {
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

}  // namespace
}  // namespace stretto::check_test

// SPDX-License-Identifier: BSD-3-Clause
//
// Schedules bound to buffers: every plan says which elements its blocks are, wherever the segment is.
#include "stretto/algorithm.hpp"
#include "stretto/builder.hpp"
#include "support/ranks.hpp"
#include "support/work.hpp"

namespace stretto::execute::program_test {
namespace {

using test::Kind;
using test::kinds;
using test::work_on;

struct Place {
  Buffer buffer;
  Count element;
  bool operator==(const Place&) const = default;
};
using Places = std::vector<Place>;

/// Elements of a message, by the schedule. Of scratch only how many.
Places by_schedule(const Schedule& s, Slice ranges, const Work& work, Count segment) {
  Places places;
  for (const Range& r : s.at(ranges))
    for (Block b = r.first; b < r.first + r.count; ++b) {
      const bool scratch = r.buffer == Buffer::scratch;
      const Layout& layout = r.buffer == Buffer::input ? work.input.layout : work.output.layout;
      const Piece piece =
          scratch ? work.sizes.block(s.scratch[static_cast<std::size_t>(b)], segment) : layout.block(b, segment);
      for (Count i = 0; i < piece.count; ++i) places.push_back({r.buffer, scratch ? 0 : piece.first + i});
    }
  return places;
}

/// By a plan whose buffers are moved on by `shift` elements.
Places by_plan(const Plan& p, Slice spans, const Work& work, Count shift) {
  Places places;
  for (const Span& span : p.at(spans)) {
    CHECK_EQ(span.at % work.element.extent, 0);
    for (Count i = 0; i < span.n; ++i)
      places.push_back({span.buffer, span.buffer == Buffer::scratch ? 0 : span.at / work.element.extent + i + shift});
  }
  return places;
}

/// `plan` as the one of `segment`.
void check_plan(const Plan& plan, const Schedule& s, const Work& work, Count segment, Count shift) {
  std::uint32_t send = 0, step = 0;
  for (std::size_t r = 0; r < s.rounds.size(); ++r) {
    for (const Send& wanted : s.sends_of(s.rounds[r])) {
      const Places places = by_schedule(s, wanted.blocks, work, segment);
      if (places.empty() && (wanted.blocks.count > 0 || segment > 0)) continue;
      const Plan::Outgoing& found = plan.sends.at(send++);
      CHECK_EQ(found.peer, wanted.peer);
      CHECK_EQ(found.bytes, static_cast<Bytes>(places.size()) * work.element.size);
      CHECK(by_plan(plan, found.blocks, work, shift) == places);
    }
    for (const Action& wanted : s.actions_of(s.rounds[r])) {
      const Places places = by_schedule(s, wanted.target, work, segment);
      const bool receives = is_receive(wanted.kind);
      if (places.empty() && (!receives || wanted.target.count > 0 || segment > 0)) continue;
      const Plan::Step& found = plan.steps.at(step++);
      CHECK(found.kind == wanted.kind && found.peer == wanted.peer);
      CHECK(by_plan(plan, found.target, work, shift) == places);
      CHECK(by_plan(plan, found.source, work, shift) == by_schedule(s, wanted.source, work, segment));
      CHECK(by_plan(plan, found.operand, work, shift) == by_schedule(s, wanted.operand, work, segment));
    }
    CHECK_EQ(plan.stages[r].end_of_sends, send);
    CHECK_EQ(plan.stages[r].end_of_steps, step);
  }
  CHECK_EQ(plan.sends.size(), send);
  CHECK_EQ(plan.steps.size(), step);
}

/// Segments are alike if the first one's plan, moved on, is that of all others but the last.
void check_segments(const Schedule& s, const Work& work) {
  const bool alike = segments_alike(work);
  Plan first;
  first.resolve(work, 0);
  const Count segments = segments_of(work);
  for (Count segment = 0; segment < segments; ++segment) {
    const Count shift = alike ? segment * longest_segment(work) : 0;
    Plan own;
    own.resolve(work, segment);
    check_plan(own, s, work, segment, shift);
    if (alike && segment + 1 < segments) check_plan(first, s, work, segment, shift);
  }
}

TEST(segments_of_every_algorithm) {
  int several = 0;
  for (const Algorithm* a : all_algorithms())
    for (const Rank ranks : {2, 4, 5}) {
      const Shape shape{ranks, 0};
      if (a->needs.counts || !unsuitable(*a, shape).empty() || a->collective == Collective::alltoall) continue;
      const Schedule s = build_schedule(*a, shape, ranks - 1);
      for (const Kind* kind : {&kinds[0], &kinds[1]})
        for (const auto& [n, segment] : {std::pair<Count, Count>{37, 0}, {37, 10}, {40, 8}, {3, 1}, {0, 5}}) {
          const Layout layout = facts(a->collective).per_rank ? Layout::per_rank(n, segment).cut_into(s.parts)
                                                              : Layout::whole(n, s.blocks, segment);
          several += segments_of(work_on(s, *kind, layout, nullptr, nullptr)) > 2 ? 1 : 0;
          if (test::failures() == 0) check_segments(s, work_on(s, *kind, layout, nullptr, nullptr));
          if (test::failures() > 0) return test::fail(a->id.data(), ranks, "is the first that is wrong");
        }
    }
  CHECK(several > 200);
}

TEST(only_even_parts_make_segments_alike) {
  const Schedule s = build_schedule(*find_algorithm("allgather/ring"), {3, 0}, 1);
  const std::vector<Count> counts{30, 5, 12}, places{100, 0, 40};
  Work work = work_on(s, kinds[0], Layout::irregular(counts, places, 10), nullptr, nullptr);
  CHECK(!segments_alike(work));
  CHECK_EQ(segments_of(work), 3);
  check_segments(s, work);
  work = work_on(s, kinds[0], Layout::per_rank(30, 10), nullptr, nullptr);
  CHECK(segments_alike(work));
  CHECK_EQ(longest_segment(work), 10);
  work.input.layout = Layout::per_rank(30, 7);
  CHECK(!segments_alike(work));
  CHECK_EQ(segments_of(work), 5);
}

Count between(Rank a, Rank b) { return a == b ? 0 : a + b == 1 ? 25 : 2; }
Count place(Rank of, Rank part) {
  Count at = 0;
  for (Rank r = 0; r < part; ++r) at += between(of, r);
  return at;
}

/// An alltoallv in which ranks 0 and 1 have much for each other, and rank 2 does not know of it: cut into segments of
/// 10 elements, it has three of them there and one here.
TEST(empty_messages_match_whatever_the_numbers_of_segments) {
  test::on_threads(3, 0, [](transport::Transport& t, Rank me) {
    const Rank next = (me + 1) % 3, previous = (me + 2) % 3;
    Builder b(me, 3, 3);
    b.send(next, Ranges{});
    b.receive(previous, Ranges{});
    b.round();
    for (const Rank peer : {next, previous}) {
      b.send(peer, input(peer));
      b.receive(peer, output(peer));
    }
    const Schedule schedule = b.finish();
    test::Guarded in(kinds[0], place(me, 3)), out(kinds[0], place(me, 3));
    std::vector<Count> counts, places;
    for (Rank r = 0; r < 3; ++r) {
      counts.push_back(between(me, r));
      places.push_back(place(me, r));
      for (Count i = 0; i < counts[r]; ++i) {
        in.put(places[r] + i, test::contribution(me, places[r] + i));
        out.expect(places[r] + i, test::contribution(r, place(r, me) + i));
      }
    }
    Work work = work_on(schedule, kinds[0], Layout::irregular(counts, places, 10), in.at(0), out.at(0));
    CHECK_EQ(segments_of(work), me == 2 ? 1 : 3);
    check_segments(schedule, work);
    Progress progress;
    for (work.depth = 1; work.depth <= 2; ++work.depth)
      CHECK_EQ(progress.run(work, t, Deadline::in(std::chrono::seconds(10))), transport::Outcome::ok);
    CHECK(!in.wrong_byte());
    CHECK(!out.wrong_byte());
  });
}

TEST(a_copy_from_input_to_output_waits_for_sends_only_in_place) {
  Builder b(0, 2, 2);
  b.send(1, input(0));
  b.copy(input(0), output(0));
  const Schedule s = b.finish();
  Work work = work_on(s, kinds[0], Layout::whole(10, 2, 0), nullptr, nullptr);
  for (const bool in_place : {true, false}) {
    work.in_place = in_place;
    Plan plan;
    plan.resolve(work, 0);
    CHECK_EQ(plan.steps.at(0).after_sends, in_place);
  }
}

TEST(messages_of_the_same_blocks_are_counted) {
  Builder b(0, 6, 2);
  for (const Rank peer : {1, 2, 3}) b.send(peer, input(0));
  b.send(4, input(1));
  b.send(5, input(0));
  const Schedule s = b.finish();
  Plan plan;
  plan.resolve(work_on(s, kinds[0], Layout::whole(10, 2, 0), nullptr, nullptr), 0);
  std::vector<int> alike;
  for (const auto& send : plan.sends) alike.push_back(send.alike);
  CHECK(alike == (std::vector<int>{3, 2, 1, 1, 1}));
}

/// Rounds of rank 1 of 4 whose result is only sent on.
std::vector<std::size_t> forwarding(const char* algorithm, Count n) {
  const Schedule s = build_schedule(*find_algorithm(algorithm), {4, 0}, 1);
  Plan plan;
  plan.resolve(work_on(s, kinds[0], Layout::whole(n, s.blocks, 0), nullptr, nullptr), 0);
  std::vector<std::size_t> rounds;
  for (std::size_t r = 0; r < plan.stages.size(); ++r)
    for (std::uint32_t i = plan.stages[r].first_step; i < plan.stages[r].end_of_steps; ++i)
      if (plan.steps[i].forwards) rounds.push_back(r);
  return rounds;
}

TEST(what_is_sent_on_and_not_read_again_is_forwarded) {
  const Count n = 1 << 16;
  CHECK(forwarding("reduce/chain", n) == std::vector<std::size_t>{0});
  CHECK(forwarding("reduce/chain", 8).empty());                                // too short to gain
  CHECK(forwarding("allreduce/ring", n) == (std::vector<std::size_t>{0, 1}));  // the last is a part of the result
  CHECK(forwarding("reduce_scatter/pairwise", n).empty());
  CHECK(forwarding("scan/linear", n).empty());  // sends it on, and keeps it
}

}  // namespace
}  // namespace stretto::execute::program_test

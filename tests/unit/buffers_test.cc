// SPDX-License-Identifier: BSD-3-Clause
//
// Operations on buffers of different layouts, and on scratch whose sizes nobody knows beforehand.
#include <cstring>
#include <numeric>

#include "support/ranks.hpp"
#include "support/schedules.hpp"
#include "support/work.hpp"

namespace stretto::execute::buffers_test {
namespace {

using test::contribution;
using test::Guarded;
using test::Kind;
using test::kinds;
using test::on_threads;
using test::soon;
using test::work_on;
using transport::Outcome;
using transport::Transport;

const Kind& matrices = kinds[2];
const Kind& sparse = kinds[3];

/// How many elements go from `source` to `destination`.
Count pair_size(Rank source, Rank destination) { return (source * 5 + destination * 3 + 1) % 11 % 8; }

/// An alltoall of blocks of different sizes by hand: the input lies backwards, the output with gaps.
struct Pairs {
  Pairs(Rank ranks, Rank rank) {
    Count end = 0;
    for (Rank r = 0; r < ranks; ++r) {
      sent.push_back(pair_size(rank, r));
      received.push_back(pair_size(r, rank));
      to.push_back(output_end + 2);
      output_end += received.back() + 2;
      end += sent.back();
    }
    for (const Count n : sent) from.push_back(end -= n);
  }
  std::vector<Count> sent, from, received, to;
  Count output_end = 0;
};

void put_contributions(const Pairs& pairs, Rank rank, Guarded& in, Guarded& out) {
  for (std::size_t r = 0; r < pairs.sent.size(); ++r) {
    const auto peer = static_cast<Rank>(r);
    for (Count i = 0; i < pairs.sent[r]; ++i) in.put(pairs.from[r] + i, contribution(rank, peer * 100 + i));
    for (Count i = 0; i < pairs.received[r]; ++i) out.expect(pairs.to[r] + i, contribution(peer, rank * 100 + i));
  }
}

Count sum(const std::vector<Count>& counts) { return std::accumulate(counts.begin(), counts.end(), Count{0}); }

/// Pieces of a side with another layout than the other's, and scratch that goes by blocks that pass through.
TEST(the_sides_and_scratch_have_layouts_of_their_own) {
  for (const Rank ranks : {1, 2, 5, 8})
    for (const Count segment : {0, 1, 3})
      for (const int depth : {1, 3})
        on_threads(ranks, 0, [&](Transport& t, Rank me) {
          const Pairs pairs(ranks, me);
          std::vector<Count> all, nowhere(static_cast<std::size_t>(ranks * ranks));
          for (Rank s = 0; s < ranks; ++s)
            for (Rank d = 0; d < ranks; ++d) all.push_back(pair_size(s, d));
          Guarded in(sparse, sum(pairs.sent)), out(sparse, pairs.output_end);
          put_contributions(pairs, me, in, out);
          const Schedule schedule = test::all_ranks(ranks, ranks, test::bruck_alltoall)[static_cast<std::size_t>(me)];
          Work work = work_on(schedule, sparse, Layout::irregular(all, nowhere, segment), nullptr, nullptr);
          work.input = {in.at(0), Layout::irregular(pairs.sent, pairs.from, segment)};
          work.output = {out.at(0), Layout::irregular(pairs.received, pairs.to, segment)};
          work.depth = depth;
          Progress progress;
          CHECK_EQ(progress.run(work, t, soon()), Outcome::ok);
          CHECK(!in.wrong_byte() && !out.wrong_byte());
        });
}

/// Elements that are numbers of elements: nobody knows the sizes of all blocks, so they are sent ahead.
TEST(sizes_travel_like_the_blocks_that_they_are_of) {
  for (const Rank ranks : {1, 2, 5, 8})
    for (const Count segment : {0, 1, 3})
      on_threads(ranks, 0, [&](Transport& t, Rank me) {
        Pairs pairs(ranks, me);
        const Schedule schedule = test::all_ranks(ranks, ranks, test::bruck_alltoall)[static_cast<std::size_t>(me)];
        std::vector<Count> received(static_cast<std::size_t>(ranks), -1);
        Progress progress;
        const Layout ones = Layout::per_rank(1, 0);
        CHECK_EQ(progress.run({.schedule = &schedule,
                               .element = {.size = sizeof(Count), .extent = sizeof(Count), .span = sizeof(Count)},
                               .input = {pairs.sent.data(), ones},
                               .output = {received.data(), ones},
                               .sizes = ones},
                              t, soon()),
                 Outcome::ok);
        CHECK(received == pairs.received);
        std::vector<Count> sizes(schedule.scratch.size()), nowhere(schedule.scratch.size());
        if (!sizes.empty()) std::memcpy(sizes.data(), progress.scratch(), sizes.size() * sizeof(Count));
        for (std::size_t s = 0; s < sizes.size(); ++s)
          CHECK_EQ(sizes[s], pair_size(static_cast<Rank>(schedule.scratch[s] / ranks),
                                       static_cast<Rank>(schedule.scratch[s] % ranks)));

        Guarded in(sparse, sum(pairs.sent)), out(sparse, pairs.output_end);
        put_contributions(pairs, me, in, out);
        Work work = work_on(schedule, sparse, Layout::irregular(sizes, nowhere, segment), nullptr, nullptr);
        work.sizes_by_slot = true;
        work.input = {in.at(0), Layout::irregular(pairs.sent, pairs.from, segment)};
        work.output = {out.at(0), Layout::irregular(pairs.received, pairs.to, segment)};
        work.depth = 2;
        CHECK_EQ(progress.run(work, t, soon()), Outcome::ok);
        CHECK(!in.wrong_byte() && !out.wrong_byte());
      });
}

/// Each rank's own part lies in memory of its own, whose first slot is not slot 0.
TEST(a_buffer_may_begin_at_any_slot) {
  constexpr Rank ranks = 4;
  const std::vector<Count> counts{3, 0, 5, 2}, displacements{7, 4, 0, 12};
  const Parts parts{{0, 2, 2, 5, 6}};
  for (const Count segment : {0, 1, 2})
    on_threads(ranks, 0, [&](Transport& t, Rank me) {
      const auto mine = static_cast<std::size_t>(me);
      const auto part = [&](Buffer buffer, Rank r) {
        return Ranges{{buffer, parts.begin(r), parts.end(r) - parts.begin(r)}};
      };
      Builder b(me, ranks, 6);
      for (Rank r = 1; r < ranks && me == 0; ++r) b.receive(r, part(Buffer::output, r));
      if (me == 0) b.copy(part(Buffer::input, 0), part(Buffer::output, 0));
      if (me != 0) b.send(0, part(Buffer::input, me));
      const Schedule schedule = b.finish();
      Guarded in(matrices, counts[mine]), out(matrices, me == 0 ? 16 : 0);
      for (Count i = 0; i < counts[mine]; ++i) in.put(i, contribution(me, i));
      for (std::size_t r = 0; r < counts.size() && me == 0; ++r)
        for (Count i = 0; i < counts[r]; ++i) out.expect(displacements[r] + i, contribution(static_cast<Rank>(r), i));
      const Layout layout = Layout::irregular(counts, displacements, segment).cut_into(parts);
      Work work = work_on(schedule, matrices, layout, in.at(0), me == 0 ? out.at(0) : nullptr);
      work.input.first = displacements[mine];
      Progress progress;
      CHECK_EQ(progress.run(work, t, soon()), Outcome::ok);
      CHECK(!in.wrong_byte() && !out.wrong_byte());
    });
}

}  // namespace
}  // namespace stretto::execute::buffers_test

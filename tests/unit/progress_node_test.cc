// SPDX-License-Identifier: BSD-3-Clause
//
// Operations over shared memory: more than fits into a staging ring, readers that are late, and what goes wrong.
#include <atomic>
#include <deque>
#include <mutex>

#include "stretto/algorithm.hpp"
#include "stretto/builder.hpp"
#include "support/neighbours.hpp"
#include "support/work.hpp"

namespace stretto::execute::progress_node_test {
namespace {

using std::chrono::milliseconds;
using test::contribution;
using test::Guarded;
using test::Kind;
using test::kinds;
using test::Neighbourhood;
using test::soon;
using test::work_on;
using transport::Outcome;
using transport::shm::Process;

/// Runs `body(paths, rank)` on a thread for each rank of one node.
template <typename Body>
void on_node(Rank ranks, Body body, transport::shm::WaitPolicy policy = transport::shm::sharing_cores) {
  const Neighbourhood node(ranks, ranks, policy);
  test::on_threads(ranks, 0, [&](transport::Transport&, Rank r) { body(Paths(nullptr, &node.of(r)), r); });
}

/// Elements of this kind that need `bytes` in a message, or a few more.
Count elements(const Kind& kind, Bytes bytes) { return bytes / kind.element().size + 1; }

/// Element i of my output is to become element `of(i)` of the input of rank `from(i)`. Inputs differ from turn to turn.
template <typename From, typename Of>
Outcome move(Progress& progress, const Paths& paths, const Schedule& schedule, const Kind& kind, Count n, From from,
             Of of, int turn = 0) {
  Guarded in(kind, n), out(kind, n);
  for (Count i = 0; i < n; ++i) in.put(i, contribution(schedule.rank, i + turn));
  for (Count i = 0; i < n; ++i)
    if (from(i) != no_rank) out.expect(i, contribution(from(i), of(i) + turn));
  const Work work = work_on(schedule, kind, Layout::whole(n, schedule.blocks, 0), in.at(0), out.at(0));
  const Outcome outcome = progress.run(work, paths, soon());
  if (outcome == Outcome::ok) CHECK(!in.wrong_byte() && !out.wrong_byte());
  return outcome;
}

constexpr auto same = [](Count i) { return i; };

/// Waits until it is so large.
bool reached(const std::atomic<int>& count, int aim) {
  for (const Deadline deadline = soon(); count < aim && !deadline.expired();)
    std::this_thread::sleep_for(milliseconds(1));
  return count >= aim;
}

TEST(messages_larger_than_the_room_are_streamed) {
  for (const Kind& kind : kinds)
    on_node(3, [&](const Paths& paths, Rank r) {
      Builder b(r, 3, 1);
      if (r > 0) b.receive(r - 1, output(0));
      b.round();
      if (r < 2) b.send(r + 1, r == 0 ? input(0) : output(0));
      const Schedule chain = b.finish();
      Progress progress;
      const auto from = [&](Count) { return r == 0 ? no_rank : 0; };
      for (const Bytes bytes : {Process::staging_bytes / 2, Process::staging_bytes, 5 * Process::staging_bytes + 1000})
        CHECK_EQ(move(progress, paths, chain, kind, elements(kind, bytes), from, same), Outcome::ok);
    });
}

TEST(reductions_of_streamed_messages) {
  for (const Kind& kind : kinds)
    on_node(2, [&](const Paths& paths, Rank r) {
      const Count n = elements(kind, 3 * Process::staging_bytes);
      const Schedule schedule = build_schedule(*find_algorithm("allreduce/recursive_doubling"), {2, 0}, r);
      const auto sum = test::reduction_in_rank_order(kind, 2, n);
      Guarded in(kind, n), out(kind, n);
      for (Count i = 0; i < n; ++i) in.put(i, contribution(r, i));
      for (Count i = 0; i < n; ++i) out.expect(i, sum[static_cast<std::size_t>(i)]);
      Progress progress;
      const Work work = work_on(schedule, kind, Layout::whole(n, schedule.blocks, 0), in.at(0), out.at(0));
      CHECK_EQ(progress.run(work, paths, soon()), Outcome::ok);
      CHECK(!in.wrong_byte() && !out.wrong_byte());
    });
}

/// Everybody sends a block to everybody, all in one round. A barrier of the threads keeps receivers away for a while.
TEST(a_round_of_more_than_the_room) {
  constexpr Rank ranks = 5;
  for (const Bytes block : {Bytes{60000}, Bytes{130000}, Process::staging_bytes + 5000})
    for (const Kind* kind : {&kinds[0], &kinds[3]})
      on_node(ranks, [&](const Paths& paths, Rank r) {
        Builder b(r, ranks, ranks);
        for (Rank d = 1; d < ranks; ++d) b.send((r + d) % ranks, input((r + d) % ranks));
        for (Rank d = 1; d < ranks; ++d) b.receive((r + d) % ranks, output((r + d) % ranks));
        const Schedule all = b.finish();
        const Count each = elements(*kind, block);
        const auto from = [&](Count i) { return i / each == r ? no_rank : static_cast<Rank>(i / each); };
        const auto of = [&](Count i) { return i % each + r * each; };
        Progress progress;
        std::this_thread::sleep_for(milliseconds(10 * r));
        for (int turn = 0; turn < 3; ++turn)
          CHECK_EQ(move(progress, paths, all, *kind, each * ranks, from, of), Outcome::ok);
      });
}

Schedule star(Rank ranks, Rank r) {
  Builder b(r, ranks, 1);
  if (r > 0) b.receive(0, output(0));
  for (Rank to = 1; r == 0 && to < ranks; ++to) b.send(to, input(0));
  return b.finish();
}

/// One piece of memory that three ranks read: those in time do not wait for the late one, which finds all in order.
TEST(a_reader_that_is_late) {
  const Kind& kind = kinds[0];
  for (const Bytes bytes : {Bytes{60000}, Bytes{1000}}) {  // four of them fill the staging ring, eight a channel
    const Count n = elements(kind, bytes);
    std::atomic<int> in_time{0};
    on_node(4, [&](const Paths& paths, Rank r) {
      const Schedule schedule = star(4, r);
      const auto from = [&](Count) { return r == 0 ? no_rank : 0; };
      Progress progress;
      if (r == 3) {
        CHECK(reached(in_time, 6));
        std::this_thread::sleep_for(milliseconds(20));
      }
      for (int call = 0; call < 30; ++call) {
        CHECK_EQ(move(progress, paths, schedule, kind, n, from, same, call), Outcome::ok);
        if (call < 3 && (r == 1 || r == 2)) ++in_time;
      }
    });
  }
}

/// A message of 64 KiB is read while it is written, by any path, if its receiver has answered the one before. Else it
/// goes whole, for the receiver may have something to do.
TEST(fragments_are_for_a_receiver_that_waits) {
  enum class Path { posted, fast, started };
  const Kind& kind = kinds[0];
  const Count n = 65536 / kind.element().size;
  for (const Path path : {Path::posted, Path::fast, Path::started}) {
    std::atomic<int> sent{0}, read{0};
    on_node(2, [&](const Paths& of_test, Rank r) {
      transport::shm::Neighbours node = *of_test.node;
      node.heap = nullptr;  // where there is one long messages take another path
      const Paths paths(nullptr, &node);
      const Schedule schedule = star(2, r);
      Progress progress;
      const auto call = [&] {
        Guarded memory(kind, n);
        for (Count i = 0; i < n; ++i)
          (r == 0 ? memory.put(i, contribution(0, i)) : memory.expect(i, contribution(0, i)));
        const Work work = work_on(schedule, kind, Layout::whole(n, 1, 0), memory.at(0), memory.at(0));
        Plan plan;
        plan.resolve(work, 0);
        plan.find_fast_path(work);
        CHECK(Operation::takes_fast_path(paths, plan));
        if (path != Path::started || r == 1) {
          CHECK_EQ(progress.run(work, paths, soon(), path == Path::fast ? &plan : nullptr), Outcome::ok);
        } else if (Operation* const started = progress.post_short(work, paths, plan, nullptr)) {
          CHECK(!started->active());  // all that it sends has left
          progress.release(*started);
        }
        CHECK(!memory.wrong_byte());
      };
      const auto answer = [&] {
        Builder b(r, 2, 1);
        r == 1 ? b.send(0, input(0)) : b.receive(1, output(0));
        const Schedule schedule = b.finish();
        CHECK_EQ(
            move(progress, paths, schedule, kind, 1, [&](Count) { return r == 0 ? 1 : no_rank; }, same), Outcome::ok);
      };
      if (r == 1) {
        answer();
        CHECK(reached(sent, 2));
        call();
        call();
        read = 2;
        CHECK(reached(sent, 3));
        call();
        answer();
        CHECK(reached(sent, 4));
        return call();
      }
      for (const std::uint64_t fragments : {4, 1, 1, 4}) {
        if (sent == 0 || sent == 3) answer();
        if (sent == 2) CHECK(reached(read, 2));
        const std::uint64_t before = node.connections[1]->out[0].sent();
        call();
        CHECK_EQ(node.connections[1]->out[0].sent() - before, fragments);
        ++sent;
      }
    });
  }
}

/// Of a round's messages to one peer with the same blocks, more than a channel has slots.
TEST(the_same_blocks_again_and_again_to_one_peer) {
  constexpr Block times = 20;
  for (const Count n : {Count{1}, Count{100}})
    on_node(2, [&](const Paths& paths, Rank r) {
      Builder b(r, 2, times);
      for (Block i = 0; i < times; ++i)
        if (r == 0)
          b.send(1, input(0));
        else
          b.receive(0, output(i));
      const Schedule schedule = b.finish();
      const auto from = [&](Count) { return r == 0 ? no_rank : 0; };
      Progress progress;
      CHECK_EQ(move(progress, paths, schedule, kinds[0], n * times, from, [&](Count i) { return i % n; }), Outcome::ok);
    });
}

TEST(a_message_of_another_size_than_awaited) {
  constexpr Bytes large = 3 * Process::staging_bytes;
  const Kind& kind = kinds[0];
  for (const auto& [sent, awaited] : {std::pair<Bytes, Bytes>{8, 16},
                                      {16, 8},
                                      {4000, 4008},
                                      {4008, 4000},
                                      {large, 4000},
                                      {4000, large},
                                      {large, large - 8}})
    on_node(2, [&](const Paths& paths, Rank r) {
      const Count n = (r == 0 ? sent : awaited) / 8;
      const Schedule schedule = star(2, r);
      const Count behind = large / 8;  // nothing may be written there
      Guarded in(kind, n), out(kind, n + behind), untouched(kind, n + behind);
      const Work work = work_on(schedule, kind, Layout::whole(n, 1, 0), in.at(0), out.at(0));
      Progress progress;
      const Outcome outcome = progress.run(work, paths, Deadline::in(milliseconds(300)));
      // The sender may not have been able to send all.
      if (r == 0) CHECK(outcome == Outcome::ok || (sent == large && outcome == Outcome::expired));
      if (r == 1) CHECK_EQ(outcome, Outcome::failed);
      CHECK(std::memcmp(out.at(n), untouched.at(n), static_cast<std::size_t>(behind * 8)) == 0);
    });
}

TEST(stalls_name_the_peer) {
  std::vector<std::vector<Stall>> all(4);
  on_node(4, [&](const Paths& paths, Rank r) {
    if (r == 2) return;  // never comes
    // In a ring: rank 3 waits for rank 2, rank 0 for rank 3; rank 1 cannot get rid of its message.
    Builder b(r, 4, 1);
    if (r == 1)
      b.send(2, input(0));
    else if (r == 3)
      b.receive(2, output(0));
    b.round();
    if (r == 3) b.send(0, output(0));
    if (r == 0) b.receive(3, output(0));
    const Schedule schedule = b.finish();
    const Kind& kind = kinds[0];
    const Count n = elements(kind, 2 * Process::staging_bytes);
    Guarded in(kind, n), out(kind, n);
    Progress progress;
    const auto begin = Deadline::Clock::now();
    const Work work = work_on(schedule, kind, Layout::whole(n, 1, 0), in.at(0), out.at(0));
    CHECK_EQ(progress.run(work, paths, Deadline::in(milliseconds(100))), Outcome::expired);
    const auto waited = Deadline::Clock::now() - begin;
    CHECK(waited >= milliseconds(100) && waited < std::chrono::seconds(20));
    all[static_cast<std::size_t>(r)] = progress.stalls();
  });
  const Rank expected[] = {3, 2, no_rank, 2};
  for (const Rank r : {0, 1, 3}) {
    const auto& still = all[static_cast<std::size_t>(r)];
    CHECK(still.size() == 1 && still[0].awaited.size() == 1);
    if (still.size() != 1 || still[0].awaited.size() != 1) continue;
    CHECK_EQ(still[0].round, 0);
    CHECK_EQ(still[0].awaited[0].peer, expected[r]);
    CHECK_EQ(still[0].awaited[0].send, r == 1);
    CHECK_EQ(still[0].awaited[0].bytes, elements(kinds[0], 2 * Process::staging_bytes) * 8);
  }
}

/// Rank 1 takes what rank 0 has for it only when rank 2, on another communicator, has got all of its own.
TEST(a_reader_that_does_not_come_delays_nobody_else) {
  for (const Kind& kind : kinds) {
    std::atomic<bool> rank_2_is_done{false};
    on_node(3, [&](const Paths& paths, Rank r) {
      constexpr int turns = 6;
      const auto to = [&](Rank reader) {
        Builder b(r, 3, 1);
        if (r == 0) b.send(reader, input(0));
        if (r == reader) b.receive(0, output(0));
        return b.finish();
      };
      const Schedule to_1 = to(1), to_2 = to(2);
      const Count n = elements(kind, Process::staging_bytes / 4);
      Guarded in(kind, n);
      for (Count i = 0; i < n; ++i) in.put(i, contribution(r, i));
      std::deque<Guarded> outs;
      const auto of = [&](Paths on, std::uint32_t communicator, int turn) {
        on.tag = {communicator, static_cast<std::uint32_t>(turn), 0};
        return on;
      };
      const auto work = [&](const Schedule& schedule) {
        const bool reads = &schedule == (r == 1 ? &to_1 : &to_2) && r > 0;
        Guarded& out = outs.emplace_back(kind, n);
        for (Count i = 0; reads && i < n; ++i) out.expect(i, contribution(0, i));
        return work_on(schedule, kind, Layout::whole(n, 1, 0), in.at(0), out.at(0));
      };
      Progress progress;
      std::vector<Operation*> posted;
      while (r == 1 && !rank_2_is_done) std::this_thread::yield();
      for (int turn = 0; turn < turns && r < 2; ++turn)
        posted.push_back(&progress.post(work(to_1), of(paths, 1, turn)));
      for (int turn = 0; turn < turns && r != 1; ++turn)
        CHECK_EQ(progress.run(work(to_2), of(paths, 2, turn), soon()), Outcome::ok);
      if (r == 2) rank_2_is_done = true;
      for (Operation* operation : posted) CHECK_EQ(progress.wait(*operation, soon()), Outcome::ok);
      for (const Guarded& out : outs) CHECK(!out.wrong_byte());
    });
  }
}

}  // namespace
}  // namespace stretto::execute::progress_node_test

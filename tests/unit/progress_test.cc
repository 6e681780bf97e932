// SPDX-License-Identifier: BSD-3-Clause
//
// Operations by themselves. That it carries out every algorithm is tested by the conformance suite of the transports.
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "stretto/algorithm.hpp"
#include "stretto/builder.hpp"
#include "support/ranks.hpp"
#include "support/work.hpp"

namespace stretto::execute::progress_test {
namespace {

using test::always_eager;
using test::contribution;
using test::Guarded;
using test::Kind;
using test::kinds;
using test::on_threads;
using test::soon;
using test::Value;
using test::work_on;
using transport::Outcome;
using transport::Tag;
using transport::Ticket;
using transport::Transport;

const Kind& sums = kinds[0];
const Kind& matrices = kinds[2];
const Kind& sparse = kinds[3];

/// Nobody to talk to.
class NoTransport final : public Transport {
 public:
  void send(Rank, Tag, const void*, Bytes, Ticket) override { test::fail(__FILE__, __LINE__, "a send"); }
  void receive(Rank, Tag, void*, Bytes, Ticket) override { test::fail(__FILE__, __LINE__, "a receive"); }
  Outcome wait(std::vector<Ticket>&, const Deadline&) override { return Outcome::failed; }
  void abandon(std::uint32_t) override {}
};

/// Hands all on to another one.
class PassesOn : public Transport {
 public:
  explicit PassesOn(Transport& inner) : inner_(inner) {}
  void send(Rank peer, Tag tag, const void* data, Bytes bytes, Ticket ticket) override {
    inner_.send(peer, tag, data, bytes, ticket);
  }
  void receive(Rank peer, Tag tag, void* data, Bytes bytes, Ticket ticket) override {
    inner_.receive(peer, tag, data, bytes, ticket);
  }
  Outcome wait(std::vector<Ticket>& done, const Deadline& deadline) override { return inner_.wait(done, deadline); }
  void abandon(std::uint32_t operation) override { inner_.abandon(operation); }

 private:
  Transport& inner_;
};

/// Carries out what `build` writes, alone, on `n` elements in `blocks` blocks of one segment; output i is to become
/// `expected(i)`, or to stay as it was.
template <typename Build, typename Expected>
void run_alone(const Kind& kind, Count n, Block blocks, Build build, Expected expected) {
  Builder b(0, 1, blocks);
  build(b);
  const Schedule schedule = b.finish();
  Guarded in(kind, n), out(kind, n);
  for (Count i = 0; i < n; ++i) in.put(i, contribution(0, i));
  for (Count i = 0; i < n; ++i) out.put(i, contribution(1, i));
  for (Count i = 0; i < n; ++i)
    if (const auto v = expected(i)) out.expect(i, *v);
  NoTransport transport;
  Progress progress;
  const Work work = work_on(schedule, kind, Layout::whole(n, blocks, 0), in.at(0), out.at(0));
  CHECK_EQ(progress.run(work, transport, soon()), Outcome::ok);
  CHECK(!in.wrong_byte());
  CHECK(!out.wrong_byte());
}

/// Element of the input block `to_block` as far on as `i` is in block `in_block`, for blocks of 3 elements.
Value moved(Count i, Block in_block, Block to_block) { return contribution(0, i + 3 * (to_block - in_block)); }

TEST(copies_of_scattered_blocks) {
  for (const Kind* kind : {&sums, &sparse})
    run_alone(
        *kind, 12, 4,
        [](Builder& b) {
          b.copy({{Buffer::input, 3, 1}, {Buffer::input, 0, 1}}, output(1, 2));
          b.copy(input(2), output(0));
        },
        [](Count i) -> std::optional<Value> {
          if (i < 3) return moved(i, 0, 2);
          if (i < 6) return moved(i, 1, 3);
          if (i < 9) return moved(i, 2, 0);
          return std::nullopt;
        });
}

TEST(reductions_of_scattered_blocks_and_their_sides) {
  for (const Kind* kind : {&sums, &matrices, &sparse})
    for (const Side side : {Side::left, Side::right})
      run_alone(
          *kind, 12, 4,
          [&](Builder& b) {
            const Block slots = b.new_scratch(0, 3);
            b.copy(input(0, 2), scratch(slots + 1, 2));
            // Source, target and operand are cut differently: 1 + 1 + 1, 2 + 1 and 1 + 2 blocks.
            b.reduce({{Buffer::input, 3, 1}, {Buffer::scratch, slots + 1, 1}, {Buffer::input, 2, 1}},
                     {{Buffer::output, 2, 2}, {Buffer::output, 0, 1}}, side,
                     {{Buffer::output, 1, 1}, {Buffer::input, 0, 2}});
          },
          [&](Count i) -> std::optional<Value> {
            const Count k = i % 3;
            const auto combined = [&](Block source, const Value& operand) {
              const Value from = contribution(0, 3 * source + k);
              return side == Side::left ? kind->op(from, operand) : kind->op(operand, from);
            };
            switch (i / 3) {
              case 2: return combined(3, contribution(1, 3 + k));
              case 3: return combined(0, contribution(0, k));
              case 0: return combined(2, contribution(0, 3 + k));
              default: return std::nullopt;
            }
          });
}

TEST(one_rank_copies_segment_by_segment) {
  for (const Algorithm* a : all_algorithms()) {
    if (!facts(a->collective).reduces || a->collective == Collective::exscan) continue;
    if (!unsuitable(*a, {1, 0, {10}}).empty()) continue;
    const Schedule schedule = build_schedule(*a, {1, 0, {10}}, 0);
    const auto layout = facts(a->collective).per_rank ? Layout::per_rank(10, 3).cut_into(schedule.parts)
                                                      : Layout::whole(10, schedule.blocks, 3);
    Guarded in(sparse, 10), out(sparse, 10);
    for (Count i = 0; i < 10; ++i) in.put(i, contribution(0, i));
    for (Count i = 0; i < 10; ++i) out.expect(i, contribution(0, i));
    NoTransport transport;
    Progress progress;
    CHECK_EQ(progress.run(work_on(schedule, sparse, layout, in.at(0), out.at(0)), transport, soon()), Outcome::ok);
    CHECK(!out.wrong_byte());
    // In place there is nothing to do, and a copy onto itself does no harm.
    const Work in_place = work_on(schedule, sparse, layout, out.at(0), out.at(0));
    CHECK_EQ(progress.run(in_place, transport, soon()), Outcome::ok);
    CHECK(!out.wrong_byte());
  }
}

/// Sends in a round read what stood before it, whatever the round's actions write into other blocks meanwhile.
int failing_reductions = 0;
void fail_to_reduce(const Combiner&, const void*, const void*, void*, Count) {
  ++failing_reductions;
  throw std::runtime_error("the program's own");
}

TEST(an_exception_leaves_no_operation_behind) {
  Builder b(0, 1, 1);
  b.reduce(input(0), output(0), Side::left, output(0));
  const Schedule schedule = b.finish();
  Guarded in(sums, 4), out(sums, 4);
  NoTransport transport;
  Progress progress;
  Work work = work_on(schedule, sums, Layout::whole(4, 1, 0), in.at(0), out.at(0));
  const Combiner usual = std::exchange(work.combiner, {.combine = fail_to_reduce});
  failing_reductions = 0;
  try {
    progress.run(work, transport, soon());
    test::fail(__FILE__, __LINE__, "no exception");
  } catch (const std::runtime_error&) {
  }
  work.combiner = usual;
  CHECK_EQ(progress.run(work, transport, soon()), Outcome::ok);
  CHECK_EQ(failing_reductions, 1);
}

TEST(rounds_follow_each_other) {
  on_threads(2, 0, [](Transport& t, Rank me) {
    const Rank peer = 1 - me;
    Builder b(me, 2, 2);
    b.copy(input(0, 2), output(0, 2));
    b.round();
    b.send(peer, output(0));
    b.receive(peer, output(1));
    b.round();
    b.send(peer, output(1));  // goes back to where it came from
    b.receive_reduce(peer, output(0), Side::left);
    const Schedule schedule = b.finish();
    Guarded in(matrices, 8), out(matrices, 8);
    for (Count i = 0; i < 8; ++i) in.put(i, contribution(me, i));
    for (Count i = 0; i < 4; ++i) out.expect(i, matrices.op(contribution(me, i), contribution(me, i)));
    for (Count i = 0; i < 4; ++i) out.expect(4 + i, contribution(peer, i));
    Progress progress;
    const Work work = work_on(schedule, matrices, Layout::whole(8, 2, 0), in.at(0), out.at(0));
    CHECK_EQ(progress.run(work, t, soon()), Outcome::ok);
    CHECK(!in.wrong_byte());
    CHECK(!out.wrong_byte());
  });
}

/// Writes down what passes through it.
class Recorder final : public PassesOn {
 public:
  using PassesOn::PassesOn;
  void send(Rank peer, Tag tag, const void* data, Bytes bytes, Ticket ticket) override {
    sent[tag.channel].push_back(bytes);
    PassesOn::send(peer, tag, data, bytes, ticket);
  }

  std::map<int, std::vector<Bytes>> sent;  // by channel
};

/// Runs an allreduce on this rank; counts of 8-byte elements.
Outcome allreduce(Progress& progress, Transport& t, std::string_view id, Rank ranks, Rank rank, Count n, Count segment,
                  int depth, const Deadline& deadline = soon()) {
  const Schedule schedule = build_schedule(*find_algorithm(id), {ranks, 0}, rank);
  const std::vector<Value> sum = test::reduction_in_rank_order(sums, ranks, n);
  Guarded in(sums, n), out(sums, n);
  for (Count i = 0; i < n; ++i) in.put(i, contribution(rank, i));
  for (Count i = 0; i < n; ++i) out.expect(i, sum[static_cast<std::size_t>(i)]);
  Work work = work_on(schedule, sums, Layout::whole(n, schedule.blocks, segment), in.at(0), out.at(0));
  work.depth = depth;
  const Outcome outcome = progress.run(work, t, deadline);
  if (outcome == Outcome::ok) CHECK(!in.wrong_byte() && !out.wrong_byte());
  return outcome;
}

/// Reads what it sends only after a message has come.
class HeldSends final : public PassesOn {
 public:
  using PassesOn::PassesOn;
  void send(Rank peer, Tag tag, const void* data, Bytes bytes, Ticket ticket) override {
    held_.push_back([=, this] { PassesOn::send(peer, tag, data, bytes, ticket); });
  }
  Outcome wait(std::vector<Ticket>& done, const Deadline& deadline) override {
    if (came_)
      for (const auto& send : std::exchange(held_, {})) send();
    came_ = true;
    return PassesOn::wait(done, deadline);
  }

 private:
  std::vector<std::function<void()>> held_;
  bool came_ = false;
};

TEST(what_is_sent_is_written_when_it_has_left) {
  on_threads(2, 0, [](Transport& t, Rank me) {
    HeldSends held(t);
    const Schedule schedule = build_schedule(*find_algorithm("allreduce/linear"), {2, 0}, me);
    CHECK_EQ(schedule.rounds.size(), 1);
    Guarded data(matrices, 10);
    for (Count i = 0; i < 10; ++i) data.put(i, contribution(me, i));
    for (Count i = 0; i < 10; ++i) data.expect(i, matrices.op(contribution(0, i), contribution(1, i)));
    Progress progress;
    const Work in_place = work_on(schedule, matrices, Layout::whole(10, 1, 0), data.at(0), data.at(0));
    CHECK_EQ(progress.run(in_place, me == 0 ? t : static_cast<Transport&>(held), soon()), Outcome::ok);
    CHECK(!data.wrong_byte());
  });
}

TEST(segments_travel_on_as_many_channels_as_are_in_flight) {
  struct {
    Count segment;
    int depth;
    std::vector<std::size_t> messages;  // on each channel
  } const cases[] = {{0, 4, {1}},           {10, 1, {10}},  {10, 3, {4, 3, 3}},
                     {33, 9, {1, 1, 1, 1}}, {50, 0, {2}},   {100, 2, {1}},
                     {99, 2, {1, 1}},       {10, -5, {10}}, {1, 1000, std::vector<std::size_t>{}}};
  for (const auto& c : cases)
    on_threads(2, 0, [&](Transport& t, Rank r) {
      Recorder recorder(t);
      Progress progress;
      CHECK_EQ(allreduce(progress, recorder, "allreduce/recursive_doubling", 2, r, 100, c.segment, c.depth),
               Outcome::ok);
      std::vector<std::size_t> messages;
      Bytes bytes = 0;
      for (const auto& [channel, sent] : recorder.sent) {
        CHECK_EQ(channel, messages.size());
        messages.push_back(sent.size());
        for (const Bytes n : sent) bytes += n;
      }
      CHECK_EQ(bytes, 800);
      if (c.messages.empty())
        CHECK_EQ(messages.size(), 64);  // the most that are ever in flight
      else
        CHECK(messages == c.messages);
    });
}

/// Ranks that see segments complete in different orders must not mix them up.
TEST(segments_may_complete_in_any_order) {
  for (const char* id : {"allreduce/recursive_doubling", "allreduce/ring", "allreduce/reduce_bcast"})
    for (const Bytes eager : {Bytes{0}, always_eager})
      on_threads(4, eager, [&](Transport& t, Rank r) {
        test::ShufflingTransport shuffling(t, static_cast<std::uint32_t>(r) * 77 + 5);
        Progress progress;
        for (int depth : {2, 3, 5}) CHECK_EQ(allreduce(progress, shuffling, id, 4, r, 203, 10, depth), Outcome::ok);
      });
}

TEST(blocks_of_nothing_are_not_sent) {
  on_threads(4, 0, [](Transport& t, Rank r) {
    Recorder recorder(t);
    Progress progress;
    CHECK_EQ(allreduce(progress, recorder, "allreduce/ring", 4, r, 0, 0, 1), Outcome::ok);
    CHECK(recorder.sent.empty());
    CHECK_EQ(allreduce(progress, recorder, "allreduce/ring", 4, r, 1, 0, 1), Outcome::ok);
    for (const auto& [channel, sent] : recorder.sent)
      for (const Bytes bytes : sent) CHECK_EQ(bytes, 8);
    // But messages of no blocks are: a barrier is made of them.
    const Schedule barrier = build_schedule(*find_algorithm("barrier/dissemination"), {4, 0}, r);
    recorder.sent.clear();
    const Work nothing = work_on(barrier, sums, Layout::whole(0, 1, 0), nullptr, nullptr);
    CHECK_EQ(progress.run(nothing, recorder, soon()), Outcome::ok);
    CHECK(recorder.sent[0] == (std::vector<Bytes>{0, 0}));
  });
}

TEST(progress_is_used_again_after_a_failure) {
  std::vector<Progress> progress(2);
  on_threads(2, always_eager, [&](Transport& t, Rank r) {
    CHECK_EQ(allreduce(progress[r], t, "allreduce/recursive_doubling", 2, r, r == 0 ? 90 : 100, 50, 2),
             Outcome::failed);
  });
  on_threads(2, always_eager, [&](Transport& t, Rank r) {
    CHECK_EQ(allreduce(progress[r], t, "allreduce/recursive_doubling", 2, r, 100, 7, 1), Outcome::ok);
    CHECK(progress[r].stalls().empty());
  });
}

/// Sends late.
class SlowSender final : public PassesOn {
 public:
  using PassesOn::PassesOn;
  void send(Rank peer, Tag tag, const void* data, Bytes bytes, Ticket ticket) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    PassesOn::send(peer, tag, data, bytes, ticket);
  }
};

TEST(a_deadline_is_for_each_wait) {
  on_threads(4, always_eager, [](Transport& t, Rank r) {
    SlowSender slow(t);
    Progress progress;
    const auto begin = Deadline::Clock::now();
    // Six rounds of at least 500 ms under a deadline of less than their sum.
    CHECK_EQ(
        allreduce(progress, slow, "allreduce/ring", 4, r, 100, 0, 1, Deadline::in(std::chrono::milliseconds(2800))),
        Outcome::ok);
    CHECK(Deadline::Clock::now() - begin >= std::chrono::seconds(3));
  });
}

/// `parts` in this order.
void check_contains(const std::string& text, std::initializer_list<std::string_view> parts) {
  std::size_t at = 0;
  for (const std::string_view part : parts) {
    const std::size_t found = text.find(part, at);
    if (found == std::string::npos)
      return test::fail(__FILE__, __LINE__, '"' + std::string(part) + "\" is not in: " + text);
    at = found + part.size();
  }
}

TEST(stall_report) {
  std::map<Rank, std::string> reports;
  std::mutex mutex;
  on_threads(4, 0, [&](Transport& t, Rank r) {
    if (r == 2) return;  // never comes
    Progress progress;
    const auto begin = Deadline::Clock::now();
    CHECK_EQ(allreduce(progress, t, "allreduce/ring", 4, r, 90, 50, 2, Deadline::in(std::chrono::milliseconds(200))),
             Outcome::expired);
    const auto waited = Deadline::Clock::now() - begin;
    CHECK(waited >= std::chrono::milliseconds(200) && waited < std::chrono::seconds(20));
    const std::lock_guard lock(mutex);
    reports[r] = stall_report(build_schedule(*find_algorithm("allreduce/ring"), {4, 0}, r), progress.stalls(),
                              "allreduce (call 7 on this communicator)");
  });
  CHECK_EQ(reports.size(), 3);
  // 50 and 40 elements in 4 blocks. Rank 3 waits for rank 2; so does rank 1, whose message nobody takes.
  check_contains(reports[3],
                 {"rank 3 of 4 hangs in allreduce (call 7 on this communicator), algorithm allreduce/ring\n",
                  "  segment 0, round 1 of 6, waits to receive 104 bytes from rank 2\n",
                  "  segment 1, round 1 of 6, waits to receive 80 bytes from rank 2\n",
                  "the schedule:\nschedule allreduce/ring ranks=4 rank=3 root=0 blocks=4\nround\n  send 0 "});
  check_contains(reports[1], {"rank 1 of 4 hangs", "segment 0, round 1 of 6, waits to send 104 bytes to rank 2\n",
                              "segment 1, round 1 of 6, waits to send 80 bytes to rank 2\n"});
  check_contains(reports[0], {"rank 0 of 4 hangs", "segment 0, round 2 of 6, waits to receive ", " bytes from rank 3",
                              "segment 1, round 2 of 6, waits to receive 80 bytes from rank 3"});
}

}  // namespace
}  // namespace stretto::execute::progress_test

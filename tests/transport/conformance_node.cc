// SPDX-License-Identifier: BSD-3-Clause
//
// Every algorithm through shared memory, with ranks as threads: all on one node, and on several pretended ones, between
// which messages go.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory_resource>

#include "support/neighbours.hpp"
#include "transport/many_operations.hpp"

namespace stretto::test {
namespace {

// Sanitizers make everything slower: one case of so many is tried, on fewer ranks. See also test::one_in().
struct Effort {
  std::uint32_t thinned;
  Rank most_ranks;
  std::size_t batches;
  Rank long_turns;  // calls of each algorithm with long messages
};
#if defined(__SANITIZE_THREAD__)
constexpr Effort effort{96, 9, 20, 2};
#elif defined(__SANITIZE_ADDRESS__)
constexpr Effort effort{12, 9, 100, 4};
#else
constexpr Effort effort{1, 17, 300, 12};
#endif

const std::uint32_t thinned = effort.thinned * one_in();
const std::size_t batches = std::max<std::size_t>(effort.batches / one_in(), 2);
const Rank long_turns = one_in() > 1 ? 2 : effort.long_turns;

using std::chrono::microseconds;
using transport::shm::WaitPolicy;

using Layout = std::pair<Rank, Rank>;  // ranks, and how many of them on a node

std::set<std::string_view> run_on_nodes(Rank ranks, Rank per_node, WaitPolicy policy, std::uint32_t seed) {
  std::set<std::string_view> done;
  const References references(ranks);
  Neighbourhood node(ranks, per_node, policy);
  on_threads(ranks, 500, [&](transport::Transport& t, Rank r) {
    const int draws = thinned > 1 ? 1 : ranks <= 4 ? 4 : 1;
    const auto mine = run_matrix({t, r, ranks, &node.of(r)}, references, {draws, thinned, seed});
    if (r == 0) done = mine;
  });
  return done;
}

TEST(one_node) {
  std::set<std::string_view> done;
  for (const Rank ranks : all_or<Rank>({1, 2, 3, 4, 5, 7, 8, 9, 16, 17}, {1, 2, 6}))
    if (ranks <= effort.most_ranks && failures() == 0)
      done.merge(run_on_nodes(ranks, ranks, ranks == 2 ? WaitPolicy{} : transport::shm::sharing_cores,
                              static_cast<std::uint32_t>(ranks)));
  for (const Algorithm* a : all_algorithms()) CHECK_EQ(done.count(a->id), 1);
}

TEST(several_nodes) {
  for (const auto& [ranks, per_node] :
       all_or<Layout>({{3, 2}, {4, 2}, {6, 3}, {8, 4}, {9, 4}, {9, 1}}, {{4, 2}, {5, 3}}))
    if (failures() == 0)
      run_on_nodes(ranks, per_node, transport::shm::sharing_cores, static_cast<std::uint32_t>(ranks * 7 + per_node));
}

/// Buffers of which some lie in a shared heap, in which neighbours read and write them.
class SomeBuffersShared {
 public:
  SomeBuffersShared() : before_(std::pmr::set_default_resource(&resource_)) {}
  ~SomeBuffersShared() { std::pmr::set_default_resource(before_); }

 private:
  PartlyShared resource_;
  std::pmr::memory_resource* before_;
};

/// Whoever waits goes to sleep at once, and has to be woken.
TEST(sleepers) {
  for (const Rank ranks : all_or<Rank>({2, 5}, {3}))
    if (failures() == 0) run_on_nodes(ranks, ranks, {.polls = 1, .yield_time = microseconds(0)}, 5);
}

/// So long that senders help where they may: some messages are refused, some are written by the sender.
void play_long_messages(bool reductions) {
  const Count longest = one_in() > 1 ? 20000 : 40000;
  for (const Rank ranks : all_or<Rank>({2, 3, 5}, {2, 3})) {
    const References references(ranks);
    Neighbourhood node(ranks, ranks, ranks == 2 ? WaitPolicy{} : transport::shm::sharing_cores);
    on_threads(ranks, 500, [&](transport::Transport& t, Rank r) {
      Player player({t, r, ranks, &node.of(r)}, references);
      for (Rank turn = 0; turn < long_turns; ++turn)
        for (const Algorithm* a : all_algorithms()) {
          const CollectiveFacts& of = facts(a->collective);
          if (of.reduces != reductions || of.neighbourhood || a->needs.counts ||
              (a->name() != "linear" && a->name() != "bruck" && a->name() != "slices"))
            continue;
          const bool in_place = turn % 3 == 1 && may_alias(a->collective);
          const Count elements = reductions ? longest_count : longest;
          player.play({a, {{ranks, of.rooted ? turn % ranks : 0}, {}}, &kinds[0], elements - turn, {}, 0, 1, in_place});
        }
    });
  }
}

TEST(long_messages_are_lent) { play_long_messages(false); }

TEST(long_messages_stay_in_shared_heaps) {
  const SomeBuffersShared some;
  const std::uint64_t before = transport::shm::messages_in_place;
  play_long_messages(false);
  play_long_messages(true);
  CHECK(transport::shm::messages_in_place >
        before + (one_in() == 1 ? 40u : 10u) * static_cast<std::uint64_t>(long_turns));
}

TEST(several_nodes_with_shared_heaps) {
  const SomeBuffersShared some;
  for (const auto& [ranks, per_node] : all_or<Layout>({{4, 4}, {6, 3}}, {{4, 2}}))
    if (failures() == 0)
      run_on_nodes(ranks, per_node, transport::shm::sharing_cores, static_cast<std::uint32_t>(ranks));
}

TEST(many_operations_at_once) {
  const auto references = references_up_to(8);
  std::atomic<std::size_t> done{0};
  std::uint32_t seed = 0;
  for (const auto& [ranks, per_node] :
       all_or<Layout>({{2, 2}, {3, 3}, {5, 5}, {8, 8}, {4, 2}, {6, 4}, {5, 1}}, {{2, 2}, {6, 4}}))
    for (const WaitPolicy& policy : {transport::shm::sharing_cores, WaitPolicy{}}) {
      if (failures() > 0 || (policy.polls > 1 && ranks > 2)) continue;
      Neighbourhood node(ranks, per_node, policy);
      ++seed;
      on_threads(ranks, 500, [&, r_ = ranks](transport::Transport& t, Rank r) {
        done += many_at_once({t, r, r_, &node.of(r)}, references, {.batches = batches, .seed = seed});
      });
    }
  CHECK(done > (one_in() == 1 ? 100 : 20) * batches);
  std::printf("%zu operations, many at once\n", done.load());
}

}  // namespace
}  // namespace stretto::test

TEST_MAIN()

// SPDX-License-Identifier: BSD-3-Clause
//
// Reductions over shared memory whose partial results are combined where they leave from.
#include <atomic>

#include "stretto/algorithm.hpp"
#include "support/neighbours.hpp"
#include "support/work.hpp"

namespace stretto::execute::forward_test {
namespace {

using test::contribution;
using test::Guarded;
using test::Kind;
using test::kinds;
using test::Neighbourhood;
using test::soon;

/// Combines as a kind does, and counts how often it writes elsewhere than to the output.
struct Counting {
  Combiner real;
  const void *begin, *end;  // of that
  mutable std::atomic<int> elsewhere{0};

  static void combine(const Combiner& c, const void* left, const void* right, void* target, Count n) {
    const auto& self = *static_cast<const Counting*>(c.context);
    if (target < self.begin || target >= self.end) ++self.elsewhere;
    self.real.combine(self.real, left, right, target, n);
  }
};

struct Case {
  const char* algorithm;
  Count segment;  // elements; 0: one segment
  int depth;
  bool shared_cores;
};

/// An allreduce of n elements by all ranks of a node. Returns how often a rank wrote elsewhere than to its output.
int run(const Case& one, const Kind& kind, Rank ranks, Count n) {
  const Neighbourhood node(ranks, ranks, transport::shm::sharing_cores);
  const auto sum = test::reduction_in_rank_order(kind, ranks, n);
  std::atomic<int> elsewhere{0};
  test::on_threads(ranks, 0, [&](transport::Transport&, Rank r) {
    const Schedule schedule = build_schedule(*find_algorithm(one.algorithm), {ranks, 0}, r);
    Progress progress;
    for (int call = 0; call < 3; ++call) {
      Guarded in(kind, n), out(kind, n);
      for (Count i = 0; i < n; ++i) in.put(i, contribution(r, i));
      for (Count i = 0; i < n; ++i) out.expect(i, sum[static_cast<std::size_t>(i)]);
      Work work = test::work_on(schedule, kind, Layout::whole(n, schedule.blocks, one.segment), in.at(0), out.at(0));
      const Counting counting{work.combiner, out.at(0), out.at(n)};
      work.combiner = {.combine = Counting::combine, .context = &counting};
      work.depth = one.depth;
      work.oversubscribed = one.shared_cores;
      CHECK_EQ(progress.run(work, Paths(nullptr, &node.of(r)), soon()), transport::Outcome::ok);
      CHECK(!in.wrong_byte() && !out.wrong_byte());
      elsewhere += counting.elsewhere;
    }
  });
  return elsewhere;
}

TEST(partial_results_are_right_and_written_once) {
  for (const Kind& kind : kinds) {
    if (!kind.commutative) continue;
    for (const bool shared : {false, true})
      for (const Case& one :
           {Case{"allreduce/ring", 0, 1, shared}, Case{"allreduce/ring", 20000, 2, shared},
            Case{"allreduce/logical_chain", 0, 1, shared}, Case{"allreduce/logical_chain", 16384, 2, shared}})
        for (const Rank ranks : {2, 3, 5}) {
          const int elsewhere = run(one, kind, ranks, 100'000);
          if (kind.dense && ranks > 2) CHECK(elsewhere > 0);
        }
  }
}

}  // namespace
}  // namespace stretto::execute::forward_test

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cstdio>

#include "support/ranks.hpp"
#include "transport/many_operations.hpp"

namespace stretto::test {
namespace {

// One variant of so many is tried, three times with other dice, and on few ranks with so many cases. Sanitizers make
// messages between threads slower.
struct Effort {
  std::uint32_t thinned;
  int cases;
  Rank check_ranks, matrix_ranks;
  std::size_t batches;
};
#if defined(__SANITIZE_THREAD__)
constexpr Effort effort{256, 1, 4, 9, 5};
#elif defined(__SANITIZE_ADDRESS__)
constexpr Effort effort{64, 1, 7, 9, 5};
#else
constexpr Effort effort{8, 4, 9, 17, 12};
#endif

const std::uint32_t thinned = effort.thinned * one_in();  // see test::one_in()
const std::size_t batches = std::max<std::size_t>(effort.batches / one_in(), 1);

TEST(checks) {
  for (Rank ranks = 1; ranks <= effort.check_ranks; ++ranks)
    for (const Bytes eager : {Bytes{0}, Bytes{100}, always_eager})
      if (failures() == 0)
        on_threads(ranks, eager, [&](transport::Transport& t, Rank r) { conformance::run_checks({t, r, ranks}); });
}

TEST(checks_with_shuffled_completions) {
  for (Rank ranks = 2; ranks <= 5; ++ranks)
    on_threads(ranks, 100, [&](transport::Transport& t, Rank r) {
      ShufflingTransport shuffling(t, static_cast<std::uint32_t>(r) + 1);
      for (const conformance::Check& check : conformance::checks)
        if (check.run != conformance::a_deadline_expires) check.run({shuffling, r, ranks});
    });
}

TEST(matrix) {
  std::set<std::string_view> done;
  for (const Rank ranks : all_or<Rank>({1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17}, {1, 2, 5, 8})) {
    if (ranks > effort.matrix_ranks) continue;
    const References references(ranks);
    const int draws = ranks <= 4 ? effort.cases : 1;
    for (const Bytes eager : {Bytes{0}, Bytes{500}, always_eager}) {
      if (failures() > 0) return;  // the next would wait for its deadline too
      on_threads(ranks, eager, [&](transport::Transport& t, Rank r) {
        ShufflingTransport shuffling(t, static_cast<std::uint32_t>(r) + 1);
        transport::Transport& used = eager == 500 ? static_cast<transport::Transport&>(shuffling) : t;
        const auto mine =
            run_matrix({used, r, ranks}, references, {draws, thinned, static_cast<std::uint32_t>(eager % 997)});
        if (r == 0) done.insert(mine.begin(), mine.end());
      });
    }
  }
  for (const Algorithm* a : all_algorithms()) CHECK_EQ(done.count(a->id), 1);
}

TEST(many_operations_at_once) {
  const auto references = references_up_to(7);
  std::atomic<std::size_t> done{0};
  std::uint32_t seed = 100;
  for (const Rank ranks : {2, 3, 4, 7})
    for (const Bytes eager : {Bytes{0}, Bytes{500}, always_eager}) {
      if (failures() > 0) continue;
      ++seed;
      on_threads(ranks, eager, [&](transport::Transport& t, Rank r) {
        ShufflingTransport shuffling(t, static_cast<std::uint32_t>(r) + 1);
        transport::Transport& used = eager == 500 ? static_cast<transport::Transport&>(shuffling) : t;
        done += many_at_once({used, r, ranks}, references, {.batches = batches, .seed = seed});
      });
    }
  CHECK(done > 100 * batches);
  std::printf("%zu operations, many at once\n", done.load());
}

/// Ranks that disagree about the size of a message are told, not left with half of it.
TEST(different_sizes_fail) {
  on_threads(2, always_eager, [](transport::Transport& t, Rank r) {
    char data[8] = {};
    if (r == 0) t.send(1, {}, data, 4, 1);
    if (r == 1) t.receive(0, {}, data, 8, 1);
    std::vector<Ticket> done;
    CHECK_EQ(t.wait(done, Deadline::in(std::chrono::seconds(20))), r == 0 ? Outcome::ok : Outcome::failed);
  });
}

}  // namespace
}  // namespace stretto::test

TEST_MAIN()

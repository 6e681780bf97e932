// SPDX-License-Identifier: BSD-3-Clause
//
// The tables of patterns/circulant_blocks.hpp against the rule in its head, place by place.
#include "algorithms/patterns/circulant_blocks.hpp"
#include "support/test.hpp"

namespace stretto::patterns::circulant_blocks_test {
namespace {

class Rule {
 public:
  explicit Rule(Rank ranks) : p_(ranks), q_(ceil_log2(ranks)), skips_(halved_skips(ranks)) {
    std::reverse(skips_.begin(), skips_.end());
  }

  std::vector<int> receives(Rank place) const {
    std::vector<int> row;
    std::vector<char> used(static_cast<std::size_t>(q_) + 1);
    used[static_cast<std::size_t>(base(place))] = 1;
    for (int k = 0; k < q_; ++k) {
      int best = -1;
      for (Rank v = place - skip(k + 1) + 1; v <= place - skip(k); ++v)
        if (const int b = base(v); !used[static_cast<std::size_t>(b)]) best = std::max(best, b);
      if (best < 0) best = base(place - skip(k + 1));
      used[static_cast<std::size_t>(best)] = 1;
      row.push_back(best == q_ ? base(place) : best - q_);
    }
    return row;
  }
  Rank skip(int k) const { return skips_[static_cast<std::size_t>(k)]; }

 private:
  int base(Rank place) const {
    int last = q_;
    Rank left = modulo(place, p_);
    for (int k = q_; k-- > 0;)
      if (left >= skip(k)) {
        left -= skip(k);
        last = k;
      }
    return last;
  }

  Rank p_;
  int q_;
  std::vector<Rank> skips_;
};

TEST(tables_follow_the_rule) {
  int compared = 0;
  for (Rank p = 2; p <= 140; p += p < 70 ? 1 : 7) {
    const Rule rule(p);
    const CirculantBlocks blocks(p, 1);
    for (Rank place = 0; place < p; ++place) {
      const CirculantBlocks::Row row = blocks.receives(place), sends = blocks.sends(place);
      const std::vector<int> wanted = rule.receives(place);
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        if (place > 0) CHECK_EQ(row[k], wanted[k]);
        const Rank to = modulo(place + rule.skip(static_cast<int>(k)), p);
        if (to > 0) CHECK_EQ(sends[k], rule.receives(to)[k]);
        ++compared;
      }
    }
  }
  CHECK(compared > 10000);
}

}  // namespace
}  // namespace stretto::patterns::circulant_blocks_test

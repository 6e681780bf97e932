// SPDX-License-Identifier: BSD-3-Clause
//
// Prefix reductions in rank order by doubling. They work in place too: the input is read for the last time before the
// output is written, and no round writes what it sends.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/patterns/powers.hpp"
#include "stretto/builder.hpp"

namespace stretto::patterns {

/// Scratch for one vector, made when it is first asked for.
class LazySlot {
 public:
  explicit LazySlot(Builder& b) : builder_(b) {}
  const Ranges& operator()() {
    if (made_.empty()) made_ = scratch(builder_.new_scratch(0, 1));
    return made_;
  }

 private:
  Builder& builder_;
  Ranges made_;
};

/// Recursive doubling: rank r meets r xor 2^k. It holds the reduction of its aligned interval of 2^k ranks as long as
/// a rank behind the interval exists that needs it: as long as r + 2^k < p. From below, intervals join the prefix too.
inline void recursive_doubling_scan(Builder& b, bool inclusive) {
  const Rank r = b.rank();
  const Rank p = b.ranks();
  Ranges interval = input(0);
  Ranges prefix = inclusive ? input(0) : Ranges{};
  LazySlot arrived(b);
  LazySlot own(b);
  for (Rank distance = 1; distance < p; distance *= 2) {
    const Rank peer = r ^ distance;
    const bool below = peer < r;
    const bool gives = r + distance < p;
    const bool joins = r + 2 * distance < p;
    b.round();
    if (below && !gives) {
      if (prefix.empty())
        b.receive(peer, output(0));
      else
        b.receive_reduce(peer, output(0), Side::left, prefix);
      prefix = output(0);
      continue;
    }
    if (gives) b.send(peer, interval);
    if (!below && !joins) continue;
    b.receive(peer, arrived());
    b.round();  // what is sent may be overwritten only after it has left
    const bool same = interval == prefix;
    if (joins && !(below && same)) {
      b.reduce(arrived(), own(), below ? Side::left : Side::right, interval);
      interval = own();
    }
    if (!below) continue;
    if (prefix.empty())
      b.copy(arrived(), output(0));
    else
      b.reduce(arrived(), output(0), Side::left, prefix);
    prefix = output(0);
    if (same) interval = output(0);
  }
  b.round();
  if (prefix == input(0)) b.copy(input(0), output(0));
}

/// Blocks combined along the longest chain of recursive_doubling_scan: two in a round, less at both ends of the chain.
inline std::int64_t recursive_doubling_scan_combined(Rank p, bool inclusive) {
  if (p <= 2) return inclusive ? p - 1 : 0;
  const std::int64_t all = std::int64_t{1} << ceil_log2(p);
  const std::int64_t reach = p + (inclusive ? 1 : 0);
  return 2 * ceil_log2(p) - 4 + (4 * reach >= 3 * all ? 1 : 0) + (reach >= all ? 1 : 0);
}

/// Inclusive prefixes: rank r has the reduction of itself and the skip-1 ranks before it, and sends it to r + skip.
inline void doubling_scan(Builder& b) {
  const Rank r = b.rank();
  const Rank p = b.ranks();
  LazySlot slots[2] = {LazySlot(b), LazySlot(b)};
  int current = 0;
  Ranges prefix = input(0);
  for (Rank skip = 1; skip < p; skip *= 2) {
    const bool sends = r + skip < p;
    b.round();
    if (sends) b.send(r + skip, prefix);
    if (r < skip) continue;
    const bool last = r < 2 * skip || 2 * skip >= p;
    if (sends) current = 1 - current;
    const Ranges target = last && !(sends && skip == 1) ? output(0) : slots[current]();
    b.receive_reduce(r - skip, target, Side::left, prefix);
    prefix = target;
  }
  b.round();
  b.copy(prefix, output(0));
}

/// A round of the family of Träff (arXiv 2507.04785, 2604.25667). Rank r has the reduction W of the `s` ranks before
/// it. Inclusive rounds send W with the own contribution, s+1 further; exclusive ones send W, s further.
struct ShiftRound {
  Rank skip;
  bool inclusive;

  bool sends(Rank r, Rank p) const { return r + skip < p && (inclusive || r > 0); }
  bool receives(Rank r) const { return inclusive ? r >= skip : r > skip; }
};

inline std::vector<ShiftRound> shift_rounds(Rank ranks, std::int64_t inclusive) {
  std::vector<ShiftRound> rounds;
  for (Rank s = 0; s < ranks - 1;) {
    const bool in = static_cast<std::int64_t>(rounds.size()) < inclusive;
    rounds.push_back({in ? s + 1 : s, in});
    s = in ? 2 * s + 1 : 2 * s;
  }
  return rounds;
}

/// The smallest number of inclusive rounds with which ceil(lg p) rounds are enough.
inline std::int64_t fewest_inclusive(Rank ranks) {
  std::int64_t inclusive = 1;
  while (static_cast<int>(shift_rounds(ranks, inclusive).size()) > ceil_log2(ranks)) ++inclusive;
  return inclusive;
}

/// Exclusive prefixes of `own` by shifts that about double, on two scratch slots in turn; the last step is into
/// `result`. The last rank's `own` is not read, nor the first rank's `result` written.
inline void doubling_exscan(Builder& b, const std::vector<ShiftRound>& rounds, const Ranges& own = input(0),
                            const Ranges& result = output(0)) {
  const Rank r = b.rank();
  const Rank p = b.ranks();
  LazySlot slots[2] = {LazySlot(b), LazySlot(b)};
  int current = 0;
  Ranges w;
  for (std::size_t t = 0; t < rounds.size(); ++t) {
    const ShiftRound& now = rounds[t];
    const bool sends = now.sends(r, p);
    Ranges message = now.inclusive ? own : w;
    if (sends && now.inclusive && !w.empty()) {
      message = slots[1 - current]();
      b.round();
      b.reduce(w, message, Side::left, own);
    }
    b.round();
    if (sends) b.send(r + now.skip, message);
    if (!now.receives(r)) continue;
    const bool last = t + 1 == rounds.size() || !rounds[t + 1].receives(r);
    const bool own_later = t + 1 < rounds.size() && rounds[t + 1].inclusive && rounds[t + 1].sends(r, p);
    const bool own_leaves = sends && message == own;
    if (sends && message == w) current = 1 - current;
    const Ranges target = last && !own_later && !own_leaves ? result : slots[current]();
    if (w.empty())
      b.receive(r - now.skip, target);
    else
      b.receive_reduce(r - now.skip, target, Side::left, w);
    w = target;
  }
  b.round();
  if (!w.empty()) b.copy(w, result);
}

/// Blocks combined along the longest chain of doubling_exscan.
inline std::int64_t doubling_exscan_combined(Rank p, const std::vector<ShiftRound>& rounds) {
  std::vector<std::int64_t> clock(static_cast<std::size_t>(p));
  const auto at = [](Rank rank) { return static_cast<std::size_t>(rank); };
  for (const ShiftRound& now : rounds) {
    const bool first = &now == rounds.data();  // nothing to combine with yet
    if (now.inclusive && !first)
      for (Rank r = 1; now.sends(r, p); ++r) ++clock[at(r)];
    for (Rank r = p - 1; now.receives(r); --r)  // downwards: the sender's clock is still that of the round's beginning
      clock[at(r)] = std::max(clock[at(r)], clock[at(r - now.skip)]) + (first ? 0 : 1);
  }
  return *std::max_element(clock.begin(), clock.end());
}

}  // namespace stretto::patterns

// SPDX-License-Identifier: BSD-3-Clause
//
// Schedules that are right, written here so that tests need not rest on the list of algorithms. Root is rank 0.
#pragma once

#include <functional>
#include <vector>

#include "stretto/builder.hpp"
#include "stretto/check.hpp"

namespace stretto::test {

using Build = std::function<void(Builder&)>;

inline std::vector<Schedule> all_ranks(Rank ranks, Block blocks, const Build& build, const Parts& parts = {}) {
  std::vector<Schedule> schedules;
  for (Rank r = 0; r < ranks; ++r) {
    Builder b(r, ranks, blocks);
    build(b);
    schedules.push_back(b.finish());
    schedules.back().parts = parts;
  }
  return schedules;
}

inline void dissemination(Builder& b) {
  for (Rank skip = 1; skip < b.ranks(); skip *= 2) {
    b.round();
    b.send((b.rank() + skip) % b.ranks(), {});
    b.receive((b.rank() + b.ranks() - skip) % b.ranks(), {});
  }
}

inline void chain_bcast(Builder& b) {
  if (b.rank() > 0) b.receive(b.rank() - 1, output(0, b.blocks()));
  b.round();
  if (b.rank() + 1 < b.ranks()) b.send(b.rank() + 1, output(0, b.blocks()));
}

/// Everyone hands on what lies behind it in the chain.
inline void chain_gather(Builder& b) {
  const Block behind = b.blocks() - b.rank() - 1;
  const bool root = b.rank() == 0;
  const Ranges theirs = root ? output(1, behind) : scratch(b.new_scratch(b.rank() + 1, behind), behind);
  if (root) b.copy(input(0), output(0));
  if (behind > 0) b.receive(b.rank() + 1, theirs);
  b.round();
  if (root) return;
  Ranges all = input(b.rank());
  all.insert(all.end(), theirs.begin(), theirs.end());
  b.send(b.rank() - 1, all);
}

inline void star_scatter(Builder& b) {
  if (b.rank() > 0) return b.receive(0, output(b.rank()));
  for (Rank r = 1; r < b.ranks(); ++r) b.send(r, input(r));
  b.round();
  b.copy(input(0), output(0));
}

inline void ring_allgather(Builder& b) {
  const Rank p = b.ranks(), next = (b.rank() + 1) % p, previous = (b.rank() + p - 1) % p;
  b.copy(input(b.rank()), output(b.rank()));
  for (Rank t = 0; t + 1 < p; ++t) {
    b.round();
    b.send(next, wrapped(Buffer::output, b.rank() - t, 1, p));
    b.receive(previous, wrapped(Buffer::output, b.rank() - t - 1, 1, p));
  }
}

/// Block (source, destination) travels the bits of its distance, the lowest first, and rests in scratch between.
inline void bruck_alltoall(Builder& b) {
  const Rank p = b.ranks(), me = b.rank();
  std::vector<Range> place;  // of the block that has `distance` to go from its source
  for (Rank distance = 0; distance < p; ++distance) place.push_back({Buffer::input, (me + distance) % p, 1});
  b.copy(input(me), output(me));
  for (Rank skip = 1; skip < p; skip *= 2) {
    Ranges away, here;
    for (Rank distance = skip; distance < p; ++distance) {
      if ((distance & skip) == 0) continue;
      away.push_back(place[static_cast<std::size_t>(distance)]);
      const Rank source = (me + p - distance % (2 * skip)) % p;
      Range& next = place[static_cast<std::size_t>(distance)];
      if (distance < 2 * skip)
        next = {Buffer::output, source, 1};
      else
        next = {Buffer::scratch, b.new_scratch(Block{source} * p + (source + distance) % p, 1), 1};
      here.push_back(next);
    }
    b.round();
    b.send((me + skip) % p, away);
    b.receive((me + p - skip) % p, here);
  }
}

inline void chain_reduce(Builder& b) {
  const bool root = b.rank() == 0, last = b.rank() + 1 == b.ranks();
  const Ranges sum = root ? output(0) : scratch(b.new_scratch(0, 1));
  if (last) b.copy(input(0), sum);
  if (!last) b.receive_reduce(b.rank() + 1, sum, Side::right, input(0));
  b.round();
  if (!root) b.send(b.rank() - 1, sum);
}

/// Powers of two only.
inline void doubling_allreduce(Builder& b) {
  Ranges sum = input(0);
  for (Rank distance = 1; distance < b.ranks(); distance *= 2) {
    const Rank peer = b.rank() ^ distance;
    const Ranges next = scratch(b.new_scratch(0, 1));
    b.round();
    b.send(peer, sum);
    b.receive_reduce(peer, next, peer < b.rank() ? Side::left : Side::right, sum);
    sum = next;
  }
  b.round();  // in place the output is what the last round may still send
  b.copy(sum, output(0));
}

/// In place the last action writes what its round sends.
inline void direct_allreduce(Builder& b) {
  const Rank p = b.ranks(), me = b.rank();
  for (Rank t = 1; t < p; ++t) b.send((me + t) % p, input(0));
  const Ranges part = scratch(b.new_scratch(0, 1));
  if (me == 0) b.copy(input(0), part);
  for (Rank r = 0; r < p; ++r) {
    const Ranges sum = r + 1 == p ? output(0) : part;
    if (r == me && r > 0) b.reduce(part, sum, Side::left, input(0));
    if (r != me && r == 0) b.receive(0, part);
    if (r != me && r > 0) b.receive_reduce(r, sum, Side::right, part);
  }
}

/// For operators that commute.
inline void pairwise_reduce_scatter(Builder& b) {
  const Rank p = b.ranks();
  b.copy(input(b.rank()), output(b.rank()));
  for (Rank t = 1; t < p; ++t) {
    b.round();
    b.send((b.rank() + t) % p, input((b.rank() + t) % p));
    b.receive_reduce((b.rank() + p - t) % p, output(b.rank()), Side::left);
  }
}

inline void chain_scan(Builder& b) {
  if (b.rank() == 0) b.copy(input(0), output(0));
  if (b.rank() > 0) b.receive_reduce(b.rank() - 1, output(0), Side::left, input(0));
  b.round();
  if (b.rank() + 1 < b.ranks()) b.send(b.rank() + 1, output(0));
}

inline void chain_exscan(Builder& b) {
  const bool last = b.rank() + 1 == b.ranks();
  if (b.rank() == 0) return last ? void() : b.send(1, input(0));
  const Ranges before = scratch(b.new_scratch(0, 1));
  b.receive(b.rank() - 1, before);
  b.round();
  if (!last) {
    const Ranges with_mine = scratch(b.new_scratch(0, 1));
    b.reduce(before, with_mine, Side::left, input(0));
    b.round();
    b.send(b.rank() + 1, with_mine);
  }
  b.copy(before, output(0));  // in place the input has been read by now
}

/// A right schedule, and what must be counted in it.
struct Right {
  std::string name;
  Collective collective;
  Rank ranks;
  Block blocks;
  bool commutative;
  Build build;
  Measured expected;
};

inline const std::vector<Right> right_schedules{
    {"doubling on 2", Collective::allreduce, 2, 1, false, doubling_allreduce, {1, 1, 1, 2}},
    {"doubling on 8", Collective::allreduce, 8, 1, false, doubling_allreduce, {3, 3, 3, 24}},
    {"direct", Collective::allreduce, 3, 1, false, direct_allreduce, {1, 2, 2, 6}},
    {"ring", Collective::allgather, 4, 4, false, ring_allgather, {3, 3, 0, 12}},
    {"dissemination", Collective::barrier, 5, 0, false, dissemination, {3, 0, 0, 15}},
    {"chain of bcast", Collective::bcast, 4, 2, false, chain_bcast, {3, 6, 0, 3}},
    {"chain of gather", Collective::gather, 4, 4, false, chain_gather, {3, 6, 0, 3}},
    {"star of scatter", Collective::scatter, 5, 5, false, star_scatter, {1, 4, 0, 4}},
    {"bruck on 4", Collective::alltoall, 4, 4, false, bruck_alltoall, {2, 4, 0, 8}},
    {"bruck on 7", Collective::alltoall, 7, 7, false, bruck_alltoall, {3, 9, 0, 21}},
    {"chain of reduce", Collective::reduce, 4, 1, false, chain_reduce, {3, 3, 3, 3}},
    {"pairwise", Collective::reduce_scatter, 4, 4, true, pairwise_reduce_scatter, {3, 3, 3, 12}},
    {"chain of scan", Collective::scan, 4, 1, false, chain_scan, {3, 3, 3, 3}},
    {"chain of exscan", Collective::exscan, 4, 1, false, chain_exscan, {3, 3, 2, 3}},
};

inline Question question_of(const Right& v, bool in_place = false) {
  return {.collective = v.collective, .shape = {v.ranks, 0}, .commutative = v.commutative, .in_place = in_place};
}

}  // namespace stretto::test

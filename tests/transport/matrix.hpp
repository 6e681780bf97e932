// SPDX-License-Identifier: BSD-3-Clause
//
// Every algorithm of the list, carried out over a transport on real data and compared with the definition of its
// collective, byte by byte.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "execute/engine.hpp"
#include "stretto/algorithm.hpp"
#include "transport/conformance.hpp"
#include "transport/kinds.hpp"

namespace stretto::test {

struct MatrixCase {
  const Algorithm* algorithm;
  const Kind* kind;
  Rank root;
  Count count;  // of the vector, or of each rank's block
  Count segment;
  int depth;
  bool in_place;

  std::string name(Rank ranks) const {
    return std::string(algorithm->id) + " on " + std::to_string(ranks) + " ranks, root " + std::to_string(root) + ", " +
           std::to_string(count) + " elements, " + std::string(kind->name) + ", segments of " +
           std::to_string(segment) + " by " + std::to_string(depth) + (in_place ? ", in place" : "");
  }
};

inline std::set<Count> matrix_counts(Rank ranks) { return {0, 1, ranks - 1, ranks, ranks + 1, 97, 5000}; }

struct Cut {
  Count segment;
  int depth;
};

/// How a vector of `count` elements is cut into segments: not at all, and into few, many, uneven ones.
inline std::vector<Cut> matrix_cuts(Count count) {
  std::vector<Cut> cuts{{0, 1}};
  const auto add = [&](Count segment, int depth) {
    if (segment < count) cuts.push_back({segment, depth});
  };
  if (count < 100) {
    for (int depth : {1, 2, 4}) add(1, depth);
    add(7, 2);
    add(60, 4);
  } else {
    add(641, 1);
    add(641, 2);
    add(300, 4);
    add(4999, 2);
  }
  return cuts;
}

/// One in `keep` cases, other ones for another `seed`.
struct Sample {
  std::uint32_t keep;
  std::uint32_t seed;
};

/// Calls `each` for a sample of the cases on `ranks` ranks, the same on all, with at least one of each algorithm.
template <typename Each>
void for_each_matrix_case(Rank ranks, const Sample& sample, Each each) {
  std::uint32_t random = sample.seed;
  for (const Algorithm* a : all_algorithms()) {
    bool first = true;
    const CollectiveFacts& of = facts(a->collective);
    for (const Kind& kind : kinds) {
      if (!of.reduces && !kind.commutative) continue;  // moved alike
      if (!unsuitable(*a, kind.commutative).empty()) continue;
      for (const Count count : matrix_counts(ranks))
        for (const Cut& cut : matrix_cuts(count))
          for (const bool in_place : {false, true})
            for (Rank root = 0; root < (of.rooted ? ranks : 1); ++root) {
              if (in_place && !may_alias(a->collective)) continue;
              if (a->collective == Collective::barrier && count > 0) continue;
              random = random * 1664525 + 1013904223;
              if (!first && (random >> 8) % sample.keep != 0) continue;
              first = false;
              each(MatrixCase{a, &kind, root, count, cut.segment, cut.depth, in_place});
            }
    }
  }
}

/// What the reductions give, computed once for all cases and ranks.
class References {
 public:
  explicit References(Rank ranks) {
    for (const Kind& kind : kinds) reduced_[&kind] = reduction_in_rank_order(kind, ranks, ranks * longest);
  }
  const Value& reduced(const Kind& kind, Count i) const { return reduced_.at(&kind)[static_cast<std::size_t>(i)]; }

 private:
  static constexpr Count longest = 5000;
  std::map<const Kind*, std::vector<Value>> reduced_;
};

/// One rank and its engine, which lives as long as a program's would.
class Player {
 public:
  Player(const Session& session, const References& references) : s_(session), references_(references) {}

  void play(const MatrixCase& c);
  void play_irregular(const MatrixCase& c);
  void play_floats(const Algorithm& algorithm, Count count, const Cut& cut);

 private:
  void run(const Schedule& schedule, const execute::Layout& layout, const Kind& kind, int depth,
           const std::string& name, const void* input, void* output, Block input_origin, Block output_origin);
  void carry_out(const execute::Work& work, const std::string& name);
  void compare(const Guarded& memory, const char* which, const std::string& name) {
    if (const auto byte = memory.wrong_byte())
      fail(__FILE__, __LINE__,
           name + ": rank " + std::to_string(s_.rank) + ": byte " + std::to_string(*byte) + " of the " + which +
               " is wrong");
  }

  Session s_;
  const References& references_;
  execute::Engine engine_;
};

inline void Player::carry_out(const execute::Work& work, const std::string& name) {
  const Outcome outcome = engine_.run(work, s_.transport, Deadline::in(std::chrono::seconds(60)));
  if (outcome != Outcome::ok)
    throw std::runtime_error(name + (outcome == Outcome::failed ? ": failed\n" : ": expired\n") +
                             execute::hang_report(*work.schedule, engine_.standstill(), name));
}

inline void Player::run(const Schedule& schedule, const execute::Layout& layout, const Kind& kind, int depth,
                        const std::string& name, const void* input, void* output, Block input_origin,
                        Block output_origin) {
  carry_out({.schedule = &schedule,
             .layout = layout,
             .element = kind.element(),
             .combiner = kind.combiner(),
             .input = input,
             .output = output,
             .input_origin = input_origin,
             .output_origin = output_origin,
             .depth = depth},
            name);
}

inline void Player::play(const MatrixCase& c) {
  const std::string name = c.name(s_.ranks);
  const Kind& kind = *c.kind;
  const Collective collective = c.algorithm->collective;
  const CollectiveFacts& of = facts(collective);
  const Shape shape{s_.ranks, c.root};
  const Schedule schedule = build_schedule(*c.algorithm, shape, s_.rank);
  const auto layout = of.per_rank ? execute::Layout::per_rank(s_.ranks, c.count, c.segment)
                                  : execute::Layout::whole(c.count, schedule.blocks, c.segment);
  const Block blocks = of.per_rank ? s_.ranks : 1;
  // One element stands for its block: all elements of a block exist on a rank or none do.
  const auto exists = [&](Buffer buffer, Block b) { return slot_exists(collective, shape, s_.rank, buffer, b); };
  const bool only_mine_in = of.per_rank && !exists(Buffer::input, (s_.rank + 1) % s_.ranks);
  const bool only_mine_out = of.per_rank && !exists(Buffer::output, (s_.rank + 1) % s_.ranks);
  const bool has_output = exists(Buffer::output, of.per_rank ? s_.rank : 0);
  const bool in_place = c.in_place && has_output;

  Guarded in(kind, only_mine_in ? c.count : blocks * c.count);
  Guarded out(kind, only_mine_out && !in_place ? c.count : blocks * c.count);
  const Block in_origin = only_mine_in ? s_.rank : 0;
  const Block out_origin = only_mine_out && !in_place ? s_.rank : 0;
  for (Block b = 0; b < blocks; ++b)
    for (Count i = b * c.count; i < (b + 1) * c.count; ++i) {
      if (exists(Buffer::input, b)) {
        if (in_place)
          out.put(i - out_origin * c.count, contribution(s_.rank, i));
        else
          in.put(i - in_origin * c.count, contribution(s_.rank, i));
      }
      if (collective == Collective::bcast && s_.rank == c.root) out.put(i, contribution(s_.rank, i));
      const Content after = content_after(collective, shape, s_.rank, b);
      if (after.kind == Content::Kind::contribution) out.expect(i - out_origin * c.count, contribution(after.from, i));
      if (after.kind == Content::Kind::reduction) out.expect(i - out_origin * c.count, references_.reduced(kind, i));
    }
  const void* input = in_place ? out.at(in_origin * c.count) : in.at(0);
  run(schedule, layout, kind, c.depth, name, input, has_output ? out.at(0) : nullptr, in_origin, out_origin);
  compare(in, "input", name);
  compare(out, "output", name);
}

/// An allgather of blocks of any size, scattered over the output in no order and with gaps.
inline void Player::play_irregular(const MatrixCase& c) {
  const std::string name = c.name(s_.ranks) + ", irregular";
  std::vector<Count> counts, displacements(static_cast<std::size_t>(s_.ranks));
  for (Rank r = 0; r < s_.ranks; ++r) counts.push_back(r % 3 == 1 ? 0 : (r * 5 + 3) % (c.count + 1));
  Count end = 2;
  for (Rank i = 0; i < s_.ranks; ++i) {  // odd ranks first, backwards
    const Rank odd = s_.ranks / 2;
    const auto r = static_cast<std::size_t>(i < odd ? 2 * (odd - i) - 1 : 2 * (i - odd));
    displacements[r] = end;
    end += counts[r] + i % 3;
  }
  const auto mine = static_cast<std::size_t>(s_.rank);
  Guarded in(*c.kind, counts[mine]);
  Guarded out(*c.kind, end + 3);
  for (Rank r = 0; r < s_.ranks; ++r)
    for (Count i = 0; i < counts[static_cast<std::size_t>(r)]; ++i)
      out.expect(displacements[static_cast<std::size_t>(r)] + i, contribution(r, i));
  for (Count i = 0; i < counts[mine]; ++i) {
    if (c.in_place)
      out.put(displacements[mine] + i, contribution(s_.rank, i));
    else
      in.put(i, contribution(s_.rank, i));
  }
  const Schedule schedule = build_schedule(*c.algorithm, {s_.ranks, 0}, s_.rank);
  const void* input = c.in_place ? out.at(displacements[mine]) : in.at(0);
  run(schedule, execute::Layout::irregular(counts, displacements, c.segment), *c.kind, c.depth, name, input,
      out.at(displacements[0]), s_.rank, 0);
  compare(in, "input", name);
  compare(out, "output", name);
}

inline void add_floats(const execute::Combiner&, const void* left, const void* right, void* target, Count n) {
  for (Count i = 0; i < n; ++i)
    static_cast<float*>(target)[i] = static_cast<const float*>(left)[i] + static_cast<const float*>(right)[i];
}

/// Sums of floats depend on the bracketing: that all ranks hold the same bits shows that they bracket alike.
inline void Player::play_floats(const Algorithm& algorithm, Count count, const Cut& cut) {
  const auto n = static_cast<std::size_t>(count);
  std::vector<float> in(n), out(n), others(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Value v = contribution(s_.rank, static_cast<Count>(i));
    in[i] = std::ldexp(static_cast<float>(static_cast<std::int32_t>(v[0])), static_cast<int>(v[1] % 40) - 40);
  }
  const Schedule schedule = build_schedule(algorithm, {s_.ranks, 0}, s_.rank);
  const std::string name = std::string(algorithm.id) + " on floats";
  carry_out({.schedule = &schedule,
             .layout = execute::Layout::whole(count, schedule.blocks, cut.segment),
             .element = {.size = 4, .extent = 4, .span = 4},
             .combiner = {.combine = add_floats},
             .input = in.data(),
             .output = out.data(),
             .depth = cut.depth},
            name);
  if (s_.ranks == 1) return;
  // Everybody compares with the next rank: equal all around the ring is equal everywhere.
  s_.transport.send(s_.previous(), 0, out.data(), count * 4, 0);
  s_.transport.receive(s_.next(), 0, others.data(), count * 4, 1);
  for (std::vector<Ticket> done; done.size() < 2;)
    if (s_.transport.wait(done, Deadline::in(std::chrono::seconds(60))) != Outcome::ok)
      throw std::runtime_error(name + ": expired");
  if (n > 0 && std::memcmp(out.data(), others.data(), n * 4) != 0)
    fail(__FILE__, __LINE__,
         name + ": ranks " + std::to_string(s_.rank) + " and " + std::to_string(s_.next()) + " of " +
             std::to_string(s_.ranks) + " hold different bits");
}

/// The whole matrix on this rank; returns the algorithms that were carried out.
inline std::set<std::string_view> run_matrix(const Session& s, const References& references, const Sample& sample) {
  std::set<std::string_view> done;
  Player player(s, references);
  for_each_matrix_case(s.ranks, sample, [&](const MatrixCase& c) {
    player.play(c);
    done.insert(c.algorithm->id);
  });
  for (const Algorithm* a : all_algorithms()) {
    if (a->collective == Collective::allreduce)
      for (const Count count : {Count{1}, Count{s.ranks}, Count{97}, Count{1000}})
        for (const Cut& cut : {Cut{0, 1}, Cut{13, 3}}) player.play_floats(*a, count, cut);
    if (a->collective == Collective::allgather)
      for (const bool in_place : {false, true})
        for (const Kind* kind : {&kinds[0], &kinds[1]})
          for (const Cut& cut : {Cut{0, 1}, Cut{1, 3}, Cut{4, 2}})
            player.play_irregular({a, kind, 0, 11, cut.segment, cut.depth, in_place});
  }
  return done;
}

}  // namespace stretto::test

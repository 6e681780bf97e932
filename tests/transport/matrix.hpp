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
#include "transport/cases.hpp"
#include "transport/conformance.hpp"

namespace stretto::test {

/// What the reductions give, computed once for all cases and ranks.
class References {
 public:
  explicit References(Rank ranks) {
    for (const Kind& kind : kinds)
      for (Rank to = 0; to < ranks; ++to)  // parts of all ranks are reduced by all ranks only
        reduced_[{&kind, to}] =
            reduction_in_rank_order(kind, to + 1, to + 1 == ranks ? ranks * longest_count : longest_count);
  }
  /// By ranks 0 to `to`.
  const Value& reduced(const Kind& kind, Rank to, Count i) const {
    return reduced_.at({&kind, to})[static_cast<std::size_t>(i)];
  }

 private:
  std::map<std::pair<const Kind*, Rank>, std::vector<Value>> reduced_;
};

/// One buffer of a case on one rank. Its parts are the ranks' parts of the vector, or the vector is one part.
struct BufferOfCase {
  std::vector<Count> counts, at;  // of every part
  Count end = 0;
  Rank first = 0, last = 0;  // the parts that exist; none if last < first

  bool has(Rank part) const { return first <= part && part <= last; }
};

/// Parts one behind the other or, if `irregular`, odd ones first, backwards and with gaps.
inline void place_parts(BufferOfCase& b, bool irregular, Count gap) {
  const std::size_t n = b.counts.size(), odd = n / 2;
  b.at.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t part = !irregular ? i : i < odd ? 2 * (odd - i) - 1 : 2 * (i - odd);
    if (irregular) b.end += static_cast<Count>(i + 2) % 3 * gap;
    b.at[part] = b.end;
    b.end += b.counts[part];
  }
  if (irregular) b.end += 3;
}

/// One rank and its engine, which lives as long as a program's would.
class Player {
 public:
  Player(const Session& session, const References& references) : s_(session), references_(references) {}

  void play(const MatrixCase& c);
  void play_floats(const Algorithm& algorithm, const Variant& variant, Count count, const Cut& cut);

 private:
  BufferOfCase buffer(const MatrixCase& c, Buffer which) const;
  execute::Layout layout(const MatrixCase& c, const Schedule& schedule, const BufferOfCase& buffer) const;
  void fill(const MatrixCase& c, Buffer which, const BufferOfCase& buffer, Guarded& memory, Count shift) const;
  void expect(const MatrixCase& c, const BufferOfCase& buffer, Guarded& memory, Count shift) const;
  void carry_out(const execute::Work& work, const std::string& name);
  void compare(const Guarded& memory, const char* which, const MatrixCase& c) {
    if (const auto byte = memory.wrong_byte())
      fail(__FILE__, __LINE__,
           c.name() + ": rank " + std::to_string(s_.rank) + ": byte " + std::to_string(*byte) + " of the " + which +
               " is wrong");
  }
  /// Which of the contributor's elements begin part `part` of a buffer: those for me, in the output of an alltoall.
  Count label(const MatrixCase& c, Buffer which, Rank part) const {
    const bool for_me = c.algorithm->collective == Collective::alltoall && which == Buffer::output;
    return (for_me ? s_.rank : part) * c.longest;
  }

  Session s_;
  const References& references_;
  execute::Engine engine_;
  int calls_ = 0;
};

inline void Player::carry_out(const execute::Work& work, const std::string& name) {
  const bool one_node = s_.node && std::ranges::count(s_.node->connections, nullptr) == 1;
  // Half of the calls have a program of an earlier one: another half on each rank, for peers need not do alike.
  execute::Program known;
  const bool ready = segments_of(work) == 1 && (++calls_ + s_.rank / 2) % 2 == 0;
  if (ready) {
    known.resolve(work, 0);
    known.find_brief(work);
  }
  const Outcome outcome = engine_.run(work, {one_node ? nullptr : &s_.transport, s_.node},
                                      Deadline::in(std::chrono::seconds(60)), ready ? &known : nullptr);
  if (outcome != Outcome::ok)
    throw std::runtime_error(name + (outcome == Outcome::failed ? ": failed\n" : ": expired\n") +
                             execute::hang_report(*work.schedule, engine_.standstill(), name));
}

inline BufferOfCase Player::buffer(const MatrixCase& c, Buffer which) const {
  const Collective collective = c.algorithm->collective;
  const Rank parts = facts(collective).per_rank ? s_.ranks : 1;
  BufferOfCase b;
  b.first = parts;
  b.last = -1;
  for (Rank part = 0; part < parts; ++part) {
    const Rank source = which == Buffer::input ? s_.rank : part, destination = which == Buffer::input ? part : s_.rank;
    const std::size_t count = collective == Collective::alltoall
                                  ? static_cast<std::size_t>(source * s_.ranks + destination)
                                  : static_cast<std::size_t>(part);
    b.counts.push_back(c.counts.empty() ? c.longest : c.counts[count]);
    // With one block for each part, slots are parts.
    if (!slot_exists(collective, c.variant.shape, {}, s_.rank, which, part)) continue;
    b.first = std::min(b.first, part);
    b.last = part;
  }
  place_parts(b, !c.counts.empty(), which == Buffer::input ? 1 : 2);
  return b;
}

inline execute::Layout Player::layout(const MatrixCase& c, const Schedule& schedule, const BufferOfCase& buffer) const {
  if (!facts(c.algorithm->collective).per_rank) return execute::Layout::whole(c.longest, schedule.blocks, c.segment);
  return (c.counts.empty() ? execute::Layout::per_rank(c.longest, c.segment)
                           : execute::Layout::irregular(buffer.counts, buffer.at, c.segment))
      .cut_into(schedule.parts);
}

inline void Player::fill(const MatrixCase& c, Buffer which, const BufferOfCase& b, Guarded& memory, Count shift) const {
  for (Rank part = 0; part < static_cast<Rank>(b.counts.size()); ++part) {
    const Content before = content_before(c.algorithm->collective, c.variant.shape, {}, s_.rank, which, part);
    if (before.kind != Content::Kind::contribution) continue;
    const auto p = static_cast<std::size_t>(part);
    for (Count i = 0; i < b.counts[p]; ++i)
      memory.put(b.at[p] - shift + i, contribution(s_.rank, label(c, which, part) + i));
  }
}

inline void Player::expect(const MatrixCase& c, const BufferOfCase& b, Guarded& memory, Count shift) const {
  for (Rank part = 0; part < static_cast<Rank>(b.counts.size()); ++part) {
    const Content after = content_after(c.algorithm->collective, c.variant.shape, {}, s_.rank, part);
    if (after.kind == Content::Kind::nothing) continue;
    const auto p = static_cast<std::size_t>(part);
    const Count from = label(c, Buffer::output, part);
    for (Count i = 0; i < b.counts[p]; ++i)
      memory.expect(b.at[p] - shift + i, after.kind == Content::Kind::contribution
                                             ? contribution(after.from, from + i)
                                             : references_.reduced(*c.kind, after.to, from + i));
  }
}

inline void Player::play(const MatrixCase& c) {
  const Shape& shape = c.variant.shape;
  const CollectiveFacts& of = facts(c.algorithm->collective);
  const Schedule schedule = build_schedule(*c.algorithm, shape, s_.rank, c.variant.params);
  const BufferOfCase out = buffer(c, Buffer::output);
  const bool one_buffer = c.in_place && (!of.rooted || s_.rank == shape.root);
  const BufferOfCase in = one_buffer ? out : buffer(c, Buffer::input);

  // A buffer of my part alone is no longer than that.
  const auto mine = static_cast<std::size_t>(of.per_rank ? s_.rank : 0);
  const auto alone = [&](const BufferOfCase& b) { return of.per_rank && b.first == b.last && !one_buffer; };
  const auto shift = [&](const BufferOfCase& b) { return alone(b) ? b.at[mine] : 0; };
  const auto length = [&](const BufferOfCase& b) {
    return one_buffer ? b.end : b.last < b.first ? 0 : alone(b) ? b.counts[mine] : b.end;
  };
  Guarded in_memory(*c.kind, one_buffer ? 0 : length(in)), out_memory(*c.kind, length(out));
  Guarded& input = one_buffer ? out_memory : in_memory;
  fill(c, Buffer::input, in, input, shift(in));
  fill(c, Buffer::output, out, out_memory, shift(out));
  expect(c, out, out_memory, shift(out));

  const auto region = [&](const BufferOfCase& b, Guarded& memory) -> execute::Region {
    const bool missing = b.last < b.first && !one_buffer;
    return {missing ? nullptr : memory.at(0), layout(c, schedule, b), missing ? 0 : shift(b)};
  };
  // What passes through scratch may be anybody's: the test knows all sizes.
  BufferOfCase sizes{c.counts, std::vector<Count>(c.counts.size())};
  carry_out({.schedule = &schedule,
             .element = c.kind->element(),
             .combiner = c.kind->combiner(),
             .input = region(in, input),
             .output = region(out, out_memory),
             .sizes = layout(c, schedule, sizes),
             .depth = c.depth},
            c.name());
  compare(in_memory, "input", c);
  compare(out_memory, "output", c);
}

inline void add_floats(const execute::Combiner&, const void* left, const void* right, void* target, Count n) {
  for (Count i = 0; i < n; ++i)
    static_cast<float*>(target)[i] = static_cast<const float*>(left)[i] + static_cast<const float*>(right)[i];
}

/// Sums of floats depend on the bracketing: that all ranks hold the same bits shows that they bracket alike.
inline void Player::play_floats(const Algorithm& algorithm, const Variant& variant, Count count, const Cut& cut) {
  const auto n = static_cast<std::size_t>(count);
  std::vector<float> in(n), out(n), others(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Value v = contribution(s_.rank, static_cast<Count>(i));
    in[i] = std::ldexp(static_cast<float>(static_cast<std::int32_t>(v[0])), static_cast<int>(v[1] % 40) - 40);
  }
  const Schedule schedule = build_schedule(algorithm, variant.shape, s_.rank, variant.params);
  const std::string name = std::string(algorithm.id) + ' ' + to_text(variant, algorithm) + " on floats";
  const auto layout = execute::Layout::whole(count, schedule.blocks, cut.segment);
  carry_out({.schedule = &schedule,
             .element = {.size = 4, .extent = 4, .span = 4},
             .combiner = {.combine = add_floats},
             .input = {in.data(), layout},
             .output = {out.data(), layout},
             .sizes = layout,
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

/// A sample of all cases on this rank; returns the algorithms that were carried out.
inline std::set<std::string_view> run_matrix(const Session& s, const References& references, const Sample& sample) {
  std::set<std::string_view> done;
  Player player(s, references);
  for_each_case(s.ranks, sample, [&](const MatrixCase& c) {
    player.play(c);
    done.insert(c.algorithm->id);
  });
  Dice dice(sample.seed);
  for (const Algorithm* a : all_algorithms())
    if (a->collective == Collective::allreduce)
      for (const Variant& variant : variants(*a, s.ranks))
        for (const Count count : {Count{1}, Count{s.ranks}, Count{97}, Count{1000}})
          for (const Cut& cut : {Cut{0, 1}, Cut{13, 3}})
            if (dice.below(sample.thinned) == 0) player.play_floats(*a, variant, count, cut);
  return done;
}

}  // namespace stretto::test

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

#include "execute/progress.hpp"
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

/// A case on one rank: its buffers, filled, and what they must hold in the end. Stays where it is.
class Bound {
 public:
  Bound(const MatrixCase& c, Rank rank, const References& references);
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  const execute::Work& work() const { return work_; }
  /// The same for a call that was made before; null if it has several segments.
  const execute::Plan* plan();
  std::string name() const { return c_.name(); }
  /// When it has been carried out.
  void check() const {
    compare(in_memory_, "input");
    compare(out_memory_, "output");
  }

 private:
  struct BothBuffers {
    BufferOfCase in, out;
    bool one;  // in place
  };
  BothBuffers buffers() const;
  BufferOfCase buffer(Buffer which) const;
  execute::Layout layout(const BufferOfCase& buffer) const;
  void fill(Buffer which, const BufferOfCase& buffer, Guarded& memory) const;
  void expect(const BufferOfCase& buffer, Guarded& memory) const;
  void compare(const Guarded& memory, const char* which) const {
    if (const auto byte = memory.wrong_byte())
      fail(__FILE__, __LINE__,
           name() + ": rank " + std::to_string(rank_) + ": byte " + std::to_string(*byte) + " of the " + which +
               " is wrong");
  }
  /// Which of the contributor's elements begin part `part` of a buffer: those for me, in the output of an alltoall.
  Count label(Buffer which, Rank part) const {
    if (!of_.pairwise) return of_.neighbourhood ? 0 : part * c_.longest;
    if (which == Buffer::input) return part * c_.longest;
    return (of_.neighbourhood ? graph_of(c_.variant.shape)->source(rank_, part).slot : rank_) * c_.longest;
  }
  /// How many a buffer has; neighbours that are not there count.
  Rank parts(Buffer which) const {
    if (!of_.neighbourhood) return of_.per_rank ? c_.variant.shape.ranks : 1;
    const Neighbours& near = graph_of(c_.variant.shape)->of(rank_);
    if (which == Buffer::input) return of_.parts_in ? static_cast<Rank>(near.destinations.size()) : 1;
    return static_cast<Rank>(near.sources.size());
  }
  /// Of a part that exists, which of the case's counts is its size.
  std::size_t counted_as(Buffer which, Rank part) const {
    if (of_.pairwise || of_.neighbourhood)
      return static_cast<std::size_t>(block_of(c_.algorithm->collective, c_.variant.shape, rank_, which, part));
    return static_cast<std::size_t>(part);
  }
  /// A buffer of my part alone is no longer than that.
  bool alone(const BufferOfCase& b) const {
    return of_.per_rank && !of_.neighbourhood && b.first == b.last && !buffers_.one;
  }
  std::size_t mine() const { return static_cast<std::size_t>(of_.per_rank ? rank_ : 0); }
  Count shift(const BufferOfCase& b) const { return alone(b) ? b.at[mine()] : 0; }
  Count length(const BufferOfCase& b) const {
    return buffers_.one ? b.end : b.last < b.first ? 0 : alone(b) ? b.counts[mine()] : b.end;
  }
  execute::Region region(const BufferOfCase& b, Guarded& memory) const {
    const bool missing = b.last < b.first && !buffers_.one;
    return {missing ? nullptr : memory.at(0), layout(b), missing ? 0 : shift(b)};
  }

  const MatrixCase c_;
  const Rank rank_;
  const References& references_;
  const CollectiveFacts& of_;
  const Schedule schedule_;
  const BothBuffers buffers_;
  const BufferOfCase sizes_;
  Guarded in_memory_, out_memory_;
  execute::Work work_;
  execute::Plan known_;
};

inline Bound::Bound(const MatrixCase& c, Rank rank, const References& references)
    : c_(c),
      rank_(rank),
      references_(references),
      of_(facts(c.algorithm->collective)),
      schedule_(build_schedule(*c.algorithm, c.variant.shape, rank, c.variant.params)),
      buffers_(buffers()),
      sizes_{c.counts, std::vector<Count>(c.counts.size())},
      in_memory_(*c.kind, buffers_.one ? 0 : length(buffers_.in)),
      out_memory_(*c.kind, length(buffers_.out)) {
  Guarded& input = buffers_.one ? out_memory_ : in_memory_;
  fill(Buffer::input, buffers_.in, input);
  fill(Buffer::output, buffers_.out, out_memory_);
  expect(buffers_.out, out_memory_);
  work_ = {.schedule = &schedule_,
           .element = c.kind->element(),
           .combiner = c.kind->combiner(),
           .input = region(buffers_.in, input),
           .output = region(buffers_.out, out_memory_),
           .sizes = layout(sizes_),  // what passes through scratch may be anybody's: the test knows all sizes
           .in_place = buffers_.one,
           .depth = c.depth,
           .lend_from = (c.longest + rank) % 2,
           .copies_measured = (c.longest + rank) % 2 == 1 && c.longest % 3 == 0};
}

inline const execute::Plan* Bound::plan() {
  if (segments_of(work_) > 1) return nullptr;
  known_.resolve(work_, 0);
  known_.find_fast_path(work_);
  return &known_;
}

inline Bound::BothBuffers Bound::buffers() const {
  const bool one = c_.in_place && (!of_.rooted || rank_ == c_.variant.shape.root);
  const BufferOfCase out = buffer(Buffer::output);
  return {one ? out : buffer(Buffer::input), out, one};
}

inline BufferOfCase Bound::buffer(Buffer which) const {
  BufferOfCase b;
  b.first = parts(which);
  b.last = -1;
  for (Rank part = 0; part < parts(which); ++part) {
    // With one block for each part, slots are parts.
    const bool exists = slot_exists(c_.algorithm->collective, c_.variant.shape, {}, rank_, which, part);
    const bool sized = exists || !of_.neighbourhood;
    b.counts.push_back(c_.counts.empty() || !sized ? c_.longest : c_.counts[counted_as(which, part)]);
    if (!exists) continue;
    b.first = std::min(b.first, part);
    b.last = part;
  }
  place_parts(b, !c_.counts.empty(), which == Buffer::input ? 1 : 2);
  return b;
}

inline execute::Layout Bound::layout(const BufferOfCase& buffer) const {
  if (!facts(c_.algorithm->collective).per_rank)
    return execute::Layout::whole(c_.longest, schedule_.blocks, c_.segment);
  return (c_.counts.empty() ? execute::Layout::per_rank(c_.longest, c_.segment)
                            : execute::Layout::irregular(buffer.counts, buffer.at, c_.segment))
      .cut_into(schedule_.parts);
}

inline void Bound::fill(Buffer which, const BufferOfCase& b, Guarded& memory) const {
  for (Rank part = 0; part < static_cast<Rank>(b.counts.size()); ++part) {
    const Content before = content_before(c_.algorithm->collective, c_.variant.shape, {}, rank_, which, part);
    if (before.kind != Content::Kind::contribution) continue;
    const auto p = static_cast<std::size_t>(part);
    for (Count i = 0; i < b.counts[p]; ++i)
      memory.put(b.at[p] - shift(b) + i, contribution(rank_, label(which, part) + i));
  }
}

inline void Bound::expect(const BufferOfCase& b, Guarded& memory) const {
  for (Rank part = 0; part < static_cast<Rank>(b.counts.size()); ++part) {
    const Content after = content_after(c_.algorithm->collective, c_.variant.shape, {}, rank_, part);
    if (after.kind == Content::Kind::nothing) continue;
    const auto p = static_cast<std::size_t>(part);
    const Count from = label(Buffer::output, part);
    for (Count i = 0; i < b.counts[p]; ++i)
      memory.expect(b.at[p] - shift(b) + i, after.kind == Content::Kind::contribution
                                                ? contribution(after.from, from + i)
                                                : references_.reduced(*c_.kind, after.to, from + i));
  }
}

/// One rank and its progress, which lives as long as a program's would.
class Player {
 public:
  Player(const Session& session, const References& references) : s_(session), references_(references) {}

  void play(const MatrixCase& c) {
    Bound bound(c, s_.rank, references_);
    // Half of the calls have a plan of an earlier one: another half on each rank, for peers need not do alike.
    const bool known = (++calls_ + s_.rank / 2) % 2 == 0;
    carry_out(bound.work(), known ? bound.plan() : nullptr, bound.name());
    bound.check();
  }
  void play_floats(const Algorithm& algorithm, const Variant& variant, Count count, const Cut& cut);

 private:
  void carry_out(const execute::Work& work, const execute::Plan* known, const std::string& name) {
    const Outcome outcome = progress_.run(work, s_.paths(), Deadline::in(std::chrono::seconds(60)), known);
    if (outcome != Outcome::ok)
      throw std::runtime_error(name + (outcome == Outcome::failed ? ": failed\n" : ": expired\n") +
                               execute::stall_report(*work.schedule, progress_.stalls(), name));
  }

  Session s_;
  const References& references_;
  execute::Progress progress_;
  int calls_ = 0;
};

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
            nullptr, name);
  if (s_.ranks == 1) return;
  // Everybody compares with the next rank: equal all around the ring is equal everywhere.
  s_.transport.send(s_.previous(), {}, out.data(), count * 4, 0);
  s_.transport.receive(s_.next(), {}, others.data(), count * 4, 1);
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

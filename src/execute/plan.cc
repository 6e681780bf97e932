// SPDX-License-Identifier: BSD-3-Clause
#include "execute/plan.hpp"

#include <algorithm>

#include "transport/shm/staging_ring.hpp"

namespace stretto::execute {
namespace {

constexpr Bytes least_forwarded = 4096;  // for less a copy saved is not worth the search

/// Elements that interleave have room for those of one slot only.
Count slot_gap(const Element& element) {
  if (element.extent <= 0 || element.span <= element.extent) return 0;
  return (element.span - 1) / element.extent;
}

bool has_empty_messages(const Schedule& schedule) {
  const auto empty = [](const Slice& blocks) { return blocks.count == 0; };
  return std::ranges::any_of(schedule.rounds, [&](const Round& round) {
    return std::ranges::any_of(schedule.sends_of(round), empty, &Send::blocks) ||
           std::ranges::any_of(schedule.actions_of(round),
                               [&](const Action& a) { return is_receive(a.kind) && empty(a.target); });
  });
}

}  // namespace

class Plan::Resolver {
 public:
  Resolver(Plan& plan, const Work& work, Count segment)
      : p_(plan),
        work_(work),
        segment_(segment),
        gap_(slot_gap(work.element)),
        shift_(segment > 0 && segments_alike(work) ? segment * longest_segment(work) : 0) {}

  void resolve() {
    const Schedule& schedule = *work_.schedule;
    p_.stages.clear();
    p_.sends.clear();
    p_.steps.clear();
    p_.spans.clear();
    p_.widest = 0;
    place_scratch();
    for (const Round& round : schedule.rounds) {
      Stage stage{size(p_.sends), 0, size(p_.steps), 0};
      for (const Send& send : schedule.sends_of(round)) add(send);
      for (const Action& action : schedule.actions_of(round)) add(action);
      stage.end_of_sends = size(p_.sends);
      stage.end_of_steps = size(p_.steps);
      for (std::uint32_t s = stage.end_of_sends; s-- > stage.first_send;)
        if (s + 1 < stage.end_of_sends && same(p_.sends[s].blocks, p_.sends[s + 1].blocks))
          p_.sends[s].alike = p_.sends[s + 1].alike + 1;
      for (std::uint32_t s = stage.first_send; s < stage.end_of_sends; ++s) stage.sent += p_.sends[s].bytes;
      for (std::uint32_t s = stage.first_step; s < stage.end_of_steps; ++s)
        stage.receives += is_receive(p_.steps[s].kind) ? 1 : 0;
      p_.widest = std::max<std::size_t>(p_.widest, stage.end_of_steps - stage.first_step);
      p_.stages.push_back(stage);
    }
    if (work_.bypass_cache) mark_non_temporal();
    constexpr std::size_t most_stages = 128;  // for the search takes their square
    if (work_.has_neighbours && work_.element.dense && p_.stages.size() <= most_stages) mark_forwarding();
    p_.fast_path = {};
  }

 private:
  template <typename T>
  static std::uint32_t size(const std::vector<T>& v) {
    return static_cast<std::uint32_t>(v.size());
  }

  void place_scratch() {
    const Schedule& schedule = *work_.schedule;
    p_.scratch = 0;
    if (schedule.scratch.empty()) return;
    Count n = 0;
    for (const Scratch::Run& run : schedule.scratch.runs())
      for (Block i = 0; i < run.count; ++i) {
        slots_.push_back(n);
        n += work_.sizes.block((work_.sizes_by_slot ? run.slot : run.first) + i, segment_).count + gap_;
      }
    slots_.push_back(n);
    p_.scratch = footprint(work_.element, n);
  }

  /// Backwards: what is read later in the segment should stay in the cache.
  void mark_non_temporal() {
    std::vector<Span> read;
    const auto reads = [&](Slice blocks) {
      for (const Span& s : p_.at(blocks))
        if (s.buffer == Buffer::output) read.push_back(s);
    };
    const Bytes extent = work_.element.extent;
    const auto is_read = [&](const Span& s) {
      return std::ranges::any_of(
          read, [&](const Span& r) { return s.at < r.at + r.n * extent && r.at < s.at + s.n * extent; });
    };
    for (std::size_t stage = p_.stages.size(); stage-- > 0;) {
      const Stage& now = p_.stages[stage];
      for (std::uint32_t i = now.end_of_steps; i-- > now.first_step;) {
        Step& step = p_.steps[i];
        step.non_temporal = std::ranges::all_of(
            p_.at(step.target), [&](const Span& s) { return s.buffer == Buffer::output && !is_read(s); });
        reads(step.source);
        reads(step.operand);
      }
      for (std::uint32_t i = now.first_send; i < now.end_of_sends; ++i) reads(p_.sends[i].blocks);
    }
  }

  /// The last step of a stage: what it combines may then be written where the message is to leave from.
  void mark_forwarding() {
    for (std::size_t stage = 0; stage + 1 < p_.stages.size(); ++stage) {
      const Stage &now = p_.stages[stage], &next = p_.stages[stage + 1];
      if (now.end_of_steps == now.first_step || next.end_of_sends - next.first_send != 1) continue;
      Step& step = p_.steps[now.end_of_steps - 1];
      const Outgoing& send = p_.sends[next.first_send];
      step.forwards = step.kind == ActionKind::receive_reduce && !step.after_sends && !step.non_temporal &&
                      step.bytes >= least_forwarded && step.target.count == 1 && same(step.target, send.blocks) &&
                      is_dead(p_.spans[step.target.first], stage + 1);
    }
  }

  /// Is it overwritten, or gone, before it is read by a step of this stage or by anything later?
  bool is_dead(const Span& span, std::size_t stage) const {
    const Bytes extent = work_.element.extent;
    const auto overlaps = [&](const Span& s) {
      return s.buffer == span.buffer && s.at < span.at + span.n * extent && span.at < s.at + s.n * extent;
    };
    const auto reads = [&](Slice blocks) { return std::ranges::any_of(p_.at(blocks), overlaps); };
    const auto covers = [&](const Span& s) {
      return overlaps(s) && s.at <= span.at && s.at + s.n * extent >= span.at + span.n * extent;
    };
    for (std::size_t later = stage; later < p_.stages.size(); ++later) {
      const Stage& s = p_.stages[later];
      for (std::uint32_t i = s.first_send; later > stage && i < s.end_of_sends; ++i)
        if (reads(p_.sends[i].blocks)) return false;
      for (std::uint32_t i = s.first_step; i < s.end_of_steps; ++i) {
        if (reads(p_.steps[i].source) || reads(p_.steps[i].operand)) return false;
        if (std::ranges::any_of(p_.at(p_.steps[i].target), covers)) return true;
      }
    }
    return span.buffer == Buffer::scratch;
  }

  bool same(Slice a, Slice b) const {
    return std::ranges::equal(p_.at(a), p_.at(b), [](const Span& x, const Span& y) {
      return x.buffer == y.buffer && x.n == y.n && x.at == y.at;
    });
  }

  void add(const Send& send) {
    const Slice blocks = resolve(send.blocks);
    const Count n = p_.elements(blocks);
    if (n == 0 && !goes_empty(send.blocks)) return;  // the receiver knows as well that there is nothing
    p_.sends.push_back({send.peer, blocks, n * work_.element.size, 1});
  }

  void add(const Action& action) {
    const bool receives = is_receive(action.kind);
    const bool later =
        action.after_sends == AfterSends::always || (work_.in_place && action.after_sends == AfterSends::in_place);
    Step step{action.kind, action.side, later, false, false, action.peer, resolve(action.target), {}, {}, 0, 0};
    const Count n = p_.elements(step.target);
    if (n == 0 && (!receives || !goes_empty(action.target))) return;
    step.n = n;
    step.bytes = n * work_.element.size;
    step.source = resolve(action.source);
    step.operand = resolve(action.operand);
    p_.steps.push_back(step);
  }

  bool goes_empty(Slice blocks) const { return blocks.count == 0 && segment_ == 0; }

  Slice resolve(Slice ranges) {
    const auto first = size(p_.spans);
    for (const Range& r : work_.schedule->at(ranges)) {
      if (adjacent(r.buffer))
        add(first, span_of(r, r.first, r.count));
      else
        for (Block b = r.first; b < r.first + r.count; ++b) add(first, span_of(r, b, 1));
    }
    return {first, size(p_.spans) - first};
  }

  bool adjacent(Buffer buffer) const {
    return buffer == Buffer::scratch ? gap_ == 0 : region(buffer).layout.adjacent();
  }
  const Region& region(Buffer buffer) const { return buffer == Buffer::input ? work_.input : work_.output; }

  void add(std::uint32_t first, const Span& span) {
    if (span.n == 0) return;
    if (size(p_.spans) > first) {
      Span& last = p_.spans.back();
      if (last.buffer == span.buffer && last.at + last.n * work_.element.extent == span.at) {
        last.n += span.n;
        return;
      }
    }
    p_.spans.push_back(span);
  }

  Span span_of(const Range& range, Block first, Block count) const {
    const Bytes extent = work_.element.extent;
    if (range.buffer == Buffer::scratch) {
      const Count begin = slots_[static_cast<std::size_t>(first)];
      const Count end = slots_[static_cast<std::size_t>(first + count)] - gap_;
      return {range.buffer, end - begin, begin * extent};
    }
    const Region& r = region(range.buffer);
    const Piece head = r.layout.block(first, segment_);
    const Piece tail = count == 1 ? head : r.layout.block(first + count - 1, segment_);
    return {range.buffer, tail.first + tail.count - head.first, (head.first - r.first - shift_) * extent};
  }

  Plan& p_;
  const Work& work_;
  Count segment_;
  Count gap_;
  Count shift_;               // elements that the buffers are moved on for this segment
  std::vector<Count> slots_;  // first element of each scratch slot, and the end
};

void Plan::resolve(const Work& work, Count segment) { Resolver(*this, work, segment).resolve(); }

void Plan::find_fast_path(const Work& work) {
  fast_path = {.fits = work.element.dense};
  for (const Stage& stage : stages) fast_path.fits = fast_path.fits && fits_fast_path(work, stage);
  const bool receives = std::ranges::any_of(steps, [](const Step& s) { return is_receive(s.kind); });
  fast_path.local = sends.empty() && !receives;
  fast_path.only_sends = !sends.empty() && !receives;
}

bool Plan::fits_fast_path(const Work& work, const Stage& stage) {
  using transport::shm::inline_payload;
  using transport::shm::StagingRing;
  const std::span mine(sends.data() + stage.first_send, stage.end_of_sends - stage.first_send);
  const std::span own(steps.data() + stage.first_step, stage.end_of_steps - stage.first_step);
  // What takes longer gains nothing, and of several long messages that which comes first should be taken first.
  constexpr Bytes longest_of_several = 32 << 10;
  const Bytes longest = mine.size() <= 1 && stage.receives <= 1 ? 256 << 10 : longest_of_several;
  const auto fits = [&](Bytes bytes, std::initializer_list<Slice> slices) {
    return bytes <= longest && std::ranges::all_of(slices, [](Slice s) { return s.count <= 1; });
  };
  const auto may_be_lent = [&](Bytes bytes) { return work.lend_from > 0 && bytes >= work.lend_from; };
  bool exchanges = false;
  for (const Step& s : own) {
    if (s.non_temporal || s.forwards || !fits(s.bytes, {s.target, s.source, s.operand})) return false;
    if (!is_receive(s.kind) || !may_be_lent(s.bytes)) continue;
    exchanges = mine.size() == 1 && mine[0].peer == s.peer && mine[0].bytes == s.bytes;
    if (!exchanges || !work.copies_measured || fast_path.exchanged > 0) return false;
    fast_path.exchanged = s.bytes;
    fast_path.partner = s.peer;
  }
  Bytes staged = 0;
  for (auto send = mine.begin(); send != mine.end(); ++send) {
    // Nobody gets the same blocks twice in a stage: there may be no slot left for the second message.
    const auto again = [&](const Outgoing& other) { return other.peer == send->peer; };
    if (!fits(send->bytes, {send->blocks}) || std::any_of(send + 1, send + send->alike, again)) return false;
    if (may_be_lent(send->bytes) && !exchanges) return false;
    if (send->bytes <= inline_payload) continue;
    staged += StagingRing::rounded(send->bytes);
    fast_path.largest = std::max(fast_path.largest, send->bytes);
    fast_path.has_long |= send->bytes > longest_of_several;
  }
  fast_path.staged = std::max(fast_path.staged, staged);
  return true;
}

Count segments_of(const Work& work) {
  return std::max({work.input.layout.segments(), work.output.layout.segments(), work.sizes.segments()});
}

bool segments_alike(const Work& work) {
  const Layout* longest = nullptr;
  for (const Layout* l : {&work.input.layout, &work.output.layout, &work.sizes}) {
    if (l->empty()) continue;
    if (!l->even() || (longest && !l->cut_alike(*longest))) return false;
    longest = l;
  }
  return !has_empty_messages(*work.schedule);  // which only the first has
}

Count longest_segment(const Work& work) {
  Count longest = 0;
  for (const Layout* l : {&work.input.layout, &work.output.layout, &work.sizes})
    if (!l->empty()) longest = std::max(longest, l->segment());
  return longest;
}

}  // namespace stretto::execute

// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/schedule.hpp"

#include <algorithm>

namespace stretto {
namespace {

/// Input and output may be one memory, scratch is another.
bool one_memory(Buffer a, Buffer b) { return (a == Buffer::scratch) == (b == Buffer::scratch); }

bool lies_before(const Range& a, const Range& b) {
  if (!one_memory(a.buffer, b.buffer)) return b.buffer == Buffer::scratch;
  return a.first < b.first;
}

/// Sorts, and makes one of those that overlap or touch.
void join(Ranges& ranges) {
  if (ranges.size() < 2) return;
  if (!std::ranges::is_sorted(ranges, lies_before)) std::ranges::sort(ranges, lies_before);
  auto last = ranges.begin();
  for (auto r = last + 1; r != ranges.end(); ++r)
    if (one_memory(last->buffer, r->buffer) && r->first <= last->first + last->count)
      last->count = std::max(last->count, r->first + r->count - last->first);
    else
      *++last = *r;
  ranges.erase(last + 1, ranges.end());
}

/// What the round sends. Messages that go to all ranks are the same one or two ranges again and again.
void ranges_sent(const Schedule& s, const Round& round, Ranges& sent) {
  sent.clear();
  for (const Send& send : s.sends_of(round))
    for (const Range& r : s.at(send.blocks))
      if (sent.empty() || !(sent.back() == r)) sent.push_back(r);
  join(sent);
}

bool sends_from(const Schedule& s, const Round& round, Buffer buffer) {
  return std::ranges::any_of(s.sends_of(round), [&](const Send& send) {
    return std::ranges::any_of(s.at(send.blocks), [&](const Range& r) { return r.buffer == buffer; });
  });
}

/// `sent` is joined.
bool overlap(std::span<const Range> targets, const Ranges& sent) {
  return std::ranges::any_of(targets, [&](const Range& t) {
    const auto r = std::ranges::partition_point(sent, [&](const Range& each) {
      return one_memory(each.buffer, t.buffer) ? each.first + each.count <= t.first : lies_before(each, t);
    });
    return r != sent.end() && one_memory(r->buffer, t.buffer) && r->first < t.first + t.count;
  });
}

}  // namespace

Block Scratch::add(Block first, Block count) {
  const auto slot = static_cast<Block>(size());
  if (count <= 0) return slot;
  if (!runs_.empty() && runs_.back().first + runs_.back().count == first)
    runs_.back().count += count;
  else
    runs_.push_back({slot, first, count});
  return slot;
}

Block Scratch::operator[](std::size_t slot) const {
  const auto at = static_cast<Block>(slot);
  const auto behind = std::ranges::upper_bound(runs_, at, {}, &Run::slot);
  const Run& run = *(behind - 1);
  return run.first + (at - run.slot);
}

std::vector<Block> Scratch::blocks() const {
  std::vector<Block> all;
  all.reserve(size());
  for (const Run& run : runs_)
    for (Block i = 0; i < run.count; ++i) all.push_back(run.first + i);
  return all;
}

Block blocks_in(std::span<const Range> ranges) {
  Block n = 0;
  for (const Range& r : ranges) n += r.count;
  return n;
}

Ranges wrapped(Buffer buffer, Block first, Block count, Block modulus) {
  if (count <= 0) return {};
  first %= modulus;
  if (first < 0) first += modulus;
  const Block head = std::min(count, modulus - first);
  if (head == count) return {{buffer, first, count}};
  return {{buffer, first, head}, {buffer, 0, count - head}};
}

void order_after_sends(Schedule& s) {
  Ranges sent;
  for (const Round& round : s.rounds) {
    ranges_sent(s, round, sent);
    for (std::size_t i = round.actions.first; i < round.actions.first + round.actions.count; ++i) {
      Action& action = s.actions[i];
      // A plain receive lands when it likes: where it would overlap, the checker refuses it.
      const auto target = s.at(action.target);
      if (action.kind == ActionKind::receive || !overlap(target, sent))
        action.after_sends = AfterSends::no;
      else if (action.kind == ActionKind::copy &&
               std::ranges::none_of(target, [&](const Range& r) { return sends_from(s, round, r.buffer); }))
        action.after_sends = AfterSends::in_place;
      else
        action.after_sends = AfterSends::always;
    }
  }
}

std::string_view name_of(Buffer buffer) {
  constexpr std::string_view names[] = {"input", "output", "scratch"};
  static_assert(std::size(names) == static_cast<std::size_t>(Buffer::scratch) + 1);
  return names[static_cast<std::size_t>(buffer)];
}

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/builder.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

namespace stretto {
namespace {

std::uint32_t index(std::size_t n) { return static_cast<std::uint32_t>(n); }

}  // namespace

Builder::Builder(Rank rank, Rank ranks, Block blocks) : rank_(rank), ranks_(ranks) {
  schedule_.rank = rank;
  schedule_.ranks = ranks;
  schedule_.blocks = blocks;
  schedule_.rounds.push_back({});
}

void Builder::round() {
  const Round& now = schedule_.rounds.back();
  if (now.sends.count == 0 && now.actions.count == 0) return;
  schedule_.rounds.push_back({{index(schedule_.sends.size()), 0}, {index(schedule_.actions.size()), 0}});
}

Slice Builder::store(const Ranges& ranges) {
  Slice slice{index(schedule_.ranges.size()), 0};
  for (Range r : ranges) {
    if (r.count == 0) continue;
    if (r.buffer != Buffer::scratch) r.first += offset_;
    // Neighbouring ranges become one, so that an operation sees one piece of memory.
    if (slice.count > 0) {
      Range& last = schedule_.ranges.back();
      if (last.buffer == r.buffer && last.first + last.count == r.first) {
        last.count += r.count;
        continue;
      }
    }
    schedule_.ranges.push_back(r);
    ++slice.count;
  }
  return slice;
}

void Builder::send(Rank peer, const Ranges& blocks) {
  schedule_.sends.push_back({world(peer), store(blocks)});
  ++schedule_.rounds.back().sends.count;
}

void Builder::receive(Rank peer, const Ranges& target) {
  schedule_.actions.push_back({.kind = ActionKind::receive, .peer = world(peer), .target = store(target)});
  ++schedule_.rounds.back().actions.count;
}

void Builder::receive_reduce(Rank peer, const Ranges& target, Side message, const Ranges& operand) {
  assert(blocks_in(target) == blocks_in(operand));
  schedule_.actions.push_back({.kind = ActionKind::receive_reduce,
                               .side = message,
                               .peer = world(peer),
                               .target = store(target),
                               .operand = store(operand)});
  ++schedule_.rounds.back().actions.count;
}

void Builder::copy(const Ranges& source, const Ranges& target) {
  assert(blocks_in(target) == blocks_in(source));
  if (blocks_in(source) == 0 || source == target) return;
  schedule_.actions.push_back({.kind = ActionKind::copy, .target = store(target), .source = store(source)});
  ++schedule_.rounds.back().actions.count;
}

void Builder::reduce(const Ranges& source, const Ranges& target, Side side, const Ranges& operand) {
  assert(blocks_in(target) == blocks_in(source) && blocks_in(target) == blocks_in(operand));
  if (blocks_in(source) == 0) return;
  schedule_.actions.push_back({.kind = ActionKind::reduce,
                               .side = side,
                               .target = store(target),
                               .source = store(source),
                               .operand = store(operand)});
  ++schedule_.rounds.back().actions.count;
}

Block Builder::new_scratch(Block first, Block count) { return schedule_.scratch.add(offset_ + first, count); }

void Builder::in_group(std::span<const Rank> members, const Body& body) {
  const auto me = std::find(members.begin(), members.end(), rank_);
  if (me == members.end()) return;
  const auto list = std::make_shared<const std::vector<Rank>>(members.begin(), members.end());
  in_group(Members{static_cast<Rank>(members.size()), static_cast<Rank>(me - members.begin()),
                   [list](Rank place) { return (*list)[static_cast<std::size_t>(place)]; }},
           body);
}

void Builder::in_group(const Members& members, const Body& body) {
  if (members.place == no_rank) return;
  const Rank rank = std::exchange(rank_, members.place);
  const Rank ranks = std::exchange(ranks_, members.count);
  const auto outer = world_;
  if (outer)
    world_ = [inner = members.rank_at, outer](Rank place) { return outer(inner(place)); };
  else
    world_ = members.rank_at;
  body(*this);
  rank_ = rank;
  ranks_ = ranks;
  world_ = outer;
}

void Builder::in_blocks(Block first, const Body& body) {
  offset_ += first;
  body(*this);
  offset_ -= first;
}

Schedule Builder::finish() {
  round();
  schedule_.rounds.pop_back();
  order_after_sends(schedule_);
  return std::move(schedule_);
}

}  // namespace stretto

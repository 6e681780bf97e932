// SPDX-License-Identifier: BSD-3-Clause
#include "execute/buffers.hpp"

#include <algorithm>
#include <cstdlib>

#include "support/memory.hpp"

namespace stretto::execute {
namespace {

constexpr Bytes least_non_temporal = 4096;  // less does not pay for the fence at its end
constexpr Bytes least_by_lines = 512;       // less is as fast by memcpy

}  // namespace

/// Calls use(address, n) for every piece of elements, or bytes of dense ones, first … first+n-1.
template <Buffers::Unit unit, typename Use>
void Buffers::in_spans(Slice blocks, Count first, Count n, Use use) const {
  constexpr bool bytes = unit == Unit::bytes;
  for (const Span& s : plan_->at(blocks)) {
    if (n == 0) return;
    const Count all = bytes ? s.n * element().size : s.n;
    if (first >= all) {
      first -= all;
      continue;
    }
    const Count here = std::min(n, all - first);
    use(at(s) + (bytes ? first : first * element().extent), here);
    n -= here;
    first = 0;
  }
}

std::byte* Buffers::in_one_piece(Slice blocks) const {
  return blocks.count == 1 && element().dense ? at(plan_->at(blocks)[0]) : nullptr;
}

void Buffers::pack(Slice blocks, Bytes first, Bytes bytes, std::byte* to, bool non_temporal) const {
  const Element& e = element();
  if (e.dense)
    in_spans<Unit::bytes>(blocks, first, bytes, [&](const std::byte* from, Bytes n) {
      copy_bytes(to, from, n, non_temporal);
      to += n;
    });
  else
    in_spans(blocks, first / e.size, bytes / e.size, [&](const std::byte* from, Count n) {
      e.pack(e, from, n, to);
      to += n * e.size;
    });
}

bool Buffers::may_go_by_lines(const Plan::Step& step, const std::byte* packed) const {
  return element().dense && !step.non_temporal && reinterpret_cast<std::uintptr_t>(packed) % 64 == 0;
}

void Buffers::unpack(const std::byte* packed, Count n, std::byte* to, bool non_temporal, bool by_lines) const {
  const Element& e = element();
  if (e.dense && non_temporal && n * e.size >= least_non_temporal)
    copy_non_temporal(to, packed, n * e.size);
  else if (by_lines && n * e.size >= least_by_lines)
    copy_lines(to, packed, n * e.size);
  else if (e.dense)
    copy_bytes(to, packed, n * e.size);
  else
    e.unpack(e, packed, n, to);
}

void Buffers::store(const Plan::Step& step, Count first, Count n, const std::byte* packed, bool by_lines) const {
  in_spans(step.target, first, n, [&](std::byte* to, Count here) {
    unpack(packed, here, to, step.non_temporal, by_lines);
    packed += here * element().size;
  });
}

void Buffers::combine(const Plan::Step& step, Count first, Count n, const std::byte* other) const {
  const Combiner& combiner = work_->combiner;
  const Bytes extent = element().extent;
  const bool non_temporal = step.non_temporal && combiner.combine_non_temporal && n * extent >= least_non_temporal;
  const auto function = non_temporal ? combiner.combine_non_temporal : combiner.combine;
  const auto apply = [&](const std::byte* mine, std::byte* to, Count here) {
    function(combiner, step.side == Side::left ? other : mine, step.side == Side::left ? mine : other, to, here);
    other += here * extent;
  };
  if (step.target.count == 1 && step.operand.count == 1) {
    const Bytes shift = first * extent;
    apply(at(plan_->at(step.operand)[0]) + shift, at(plan_->at(step.target)[0]) + shift, n);
    return;
  }
  in_spans(step.target, first, n, [&](std::byte* to, Count in_target) {
    in_spans(step.operand, first, in_target, [&](const std::byte* mine, Count here) {
      apply(mine, to, here);
      to += here * extent;
    });
    first += in_target;
  });
}

void Buffers::combine_to(std::byte* to, const Plan::Step& step, const std::byte* message) const {
  const Combiner& combiner = work_->combiner;
  const bool left = step.side == Side::left;
  in_spans(step.operand, 0, step.n, [&](const std::byte* mine, Count here) {
    combiner.combine(combiner, left ? message : mine, left ? mine : message, to, here);
    message += here * element().extent;
    to += here * element().extent;
  });
}

void Buffers::combine_message(const Plan::Step& step, Count first, Count n, const std::byte* packed,
                              Arena& arena) const {
  if (element().dense) {
    combine(step, first, n, packed);
    return;
  }
  std::byte* unpacked = room_for(arena, n);
  unpack(packed, n, unpacked, false, false);
  combine(step, first, n, unpacked);
}

bool Buffers::can_copy_in_pieces(const Plan::Step& step) const {
  const std::byte* from = in_one_piece(step.source);
  const std::byte* to = in_one_piece(step.target);
  return from && to && std::abs(from - to) >= step.bytes;
}

void Buffers::copy_piece(const Plan::Step& step, Bytes first, Bytes bytes) const {
  const std::byte* from = in_one_piece(step.source) + first;
  std::byte* to = in_one_piece(step.target) + first;
  if (step.non_temporal && bytes >= least_non_temporal)
    copy_non_temporal(to, from, bytes);
  else
    move_bytes(to, from, bytes);
}

const std::byte* Buffers::gathered(Slice blocks, Bytes bytes, Arena& arena) const {
  std::byte* packed = arena.take(bytes);
  pack(blocks, 0, bytes, packed);
  return packed;
}

void Buffers::copy(const Plan::Step& step, Arena& arena) const {
  const std::byte* from = in_one_piece(step.source);
  const std::byte* to = in_one_piece(step.target);
  if (from && to) {
    if (from != to) copy_piece(step, 0, step.bytes);  // else it is in place
    return;
  }
  if (step.source.count == 1 && step.target.count == 1 &&
      at(plan_->at(step.source)[0]) == at(plan_->at(step.target)[0]))
    return;
  store(step, 0, step.bytes / element().size, gathered(step.source, step.bytes, arena));
}

void Buffers::reduce(const Plan::Step& step, Arena& arena) const {
  const Count n = plan_->elements(step.target);
  if (step.source.count == 1) {
    combine(step, 0, n, at(plan_->at(step.source)[0]));
    return;
  }
  combine_message(step, 0, n, gathered(step.source, step.bytes, arena), arena);  // rare
}

}  // namespace stretto::execute

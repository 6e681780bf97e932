// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "execute/arena.hpp"
#include "execute/plan.hpp"

namespace stretto::execute {

/// The memory of one segment of a call: what moves and combines elements there.
class Buffers {
 public:
  void bind(const Work& work, const Plan& plan, Bytes shift, std::byte* scratch) {
    work_ = &work;
    plan_ = &plan;
    base_[static_cast<int>(Buffer::input)] = static_cast<std::byte*>(work.input.at) + shift;
    base_[static_cast<int>(Buffer::output)] = static_cast<std::byte*>(work.output.at) + shift;
    base_[static_cast<int>(Buffer::scratch)] = scratch;
  }

  const Element& element() const { return work_->element; }
  std::byte* at(const Span& s) const { return base_[static_cast<int>(s.buffer)] + s.at; }
  /// The bytes of a message as they lie in memory, or null if they have to be packed.
  std::byte* in_one_piece(Slice blocks) const;

  /// Bytes first … first+bytes-1 of a message of these blocks. Where elements have holes, whole elements.
  void pack(Slice blocks, Bytes first, Bytes bytes, std::byte* to, bool non_temporal = false) const;
  /// Does such a fragment go by ordinary stores, from whole lines?
  bool may_go_by_lines(const Plan::Step& step, const std::byte* packed) const;
  /// Elements first … first+n-1 of a message arrive. `by_lines`: which may_go_by_lines, by copy_lines.
  void store(const Plan::Step& step, Count first, Count n, const std::byte* packed, bool by_lines = false) const;
  /// The same, and are combined: step.target = message ∘ step.operand, or the other way round.
  void combine_message(const Plan::Step& step, Count first, Count n, const std::byte* packed, Arena& arena) const;
  /// The same for all of a message, of a step with one piece as target, to somewhere else.
  void combine_to(std::byte* to, const Plan::Step& step, const std::byte* message) const;
  /// The bytes of `blocks` one behind the other, in memory of the arena.
  const std::byte* gathered(Slice blocks, Bytes bytes, Arena& arena) const;
  void copy(const Plan::Step& step, Arena& arena) const;
  /// Does it go from one piece of memory to another one, elsewhere?
  bool can_copy_in_pieces(const Plan::Step& step) const;
  /// Bytes first … first+bytes-1 of such a copy.
  void copy_piece(const Plan::Step& step, Bytes first, Bytes bytes) const;
  void reduce(const Plan::Step& step, Arena& arena) const;

 private:
  std::byte* room_for(Arena& arena, Count n) const { return arena.take(footprint(element(), n)) - element().lower; }
  /// `other` are elements as they lie in memory.
  void combine(const Plan::Step& step, Count first, Count n, const std::byte* other) const;
  void unpack(const std::byte* packed, Count n, std::byte* to, bool non_temporal, bool by_lines) const;
  enum class Unit { elements, bytes };
  template <Unit unit = Unit::elements, typename Use>
  void in_spans(Slice blocks, Count first, Count n, Use use) const;

  const Work* work_ = nullptr;
  const Plan* plan_ = nullptr;
  std::byte* base_[3] = {};
};

}  // namespace stretto::execute

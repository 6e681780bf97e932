// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "stretto/check.hpp"

namespace stretto::checking {

using Location = std::int64_t;  ///< where a slot of one rank lies; aliased slots lie at one location

/// The locations of one rank, numbered from 0.
class Layout {
 public:
  Layout(const Schedule& schedule, const Question& question)
      : schedule_(&schedule),
        question_(&question),
        blocks_(schedule.blocks),
        scratch_(&schedule.scratch),
        aliased_(question.in_place && may_alias(question.collective) &&
                 (!facts(question.collective).rooted || schedule.rank == question.shape.root)) {}

  Location size() const { return 2 * blocks_ + static_cast<Location>(scratch_->size()); }

  Location of(Buffer buffer, Block slot) const {
    if (buffer == Buffer::scratch) return 2 * blocks_ + slot;
    return buffer == Buffer::output || aliased_ ? blocks_ + slot : slot;
  }

  /// The block that the slot holds.
  Block block(Location at) const {
    if (at < 2 * blocks_)
      return block_of(question_->collective, question_->shape, schedule_->rank,
                      at < blocks_ ? Buffer::input : Buffer::output, at < blocks_ ? at : at - blocks_);
    return (*scratch_)[static_cast<std::size_t>(at - 2 * blocks_)];
  }

  void locate(std::span<const Range> ranges, std::vector<Location>& to) const {
    to.clear();
    for (const Range& r : ranges)
      for (Block slot = r.first; slot < r.first + r.count; ++slot) to.push_back(of(r.buffer, slot));
  }

  /// "output[2]"
  std::string name(Location at) const {
    if (at < blocks_) return "input[" + std::to_string(at) + ']';
    if (at < 2 * blocks_) return "output[" + std::to_string(at - blocks_) + ']';
    return "scratch[" + std::to_string(at - 2 * blocks_) + ']';
  }

 private:
  const Schedule* schedule_;
  const Question* question_;
  Block blocks_;
  const Scratch* scratch_;
  bool aliased_;
};

}  // namespace stretto::checking

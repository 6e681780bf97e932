// SPDX-License-Identifier: BSD-3-Clause
//
// Where the blocks of a call lie, in elements: the one place that turns blocks into counts.
#pragma once

#include <span>

#include "stretto/schedule.hpp"

namespace stretto::execute {

/// Elements first … first+count-1.
struct Piece {
  Count first;
  Count count;
};

/// Block `b` of `n` elements cut into `blocks` blocks whose sizes differ by at most one, the larger ones first.
Piece uniform_piece(Count n, Block blocks, Block b);

/// Where the blocks of one buffer lie: its elements, cut into segments and those into blocks.
class Layout {
 public:
  /// `n` elements; every segment has `segment` of them (the last one the rest) and is cut into `blocks` blocks.
  static Layout whole(Count n, Block blocks, Count segment);
  /// Every part has `each` elements; a segment is `segment` elements of every part.
  static Layout per_rank(Count each, Count segment);
  /// Parts of any size anywhere, in elements from the address of the buffer. Both outlive the layout.
  static Layout irregular(std::span<const Count> counts, std::span<const Count> displacements, Count segment);
  /// The same, with part r cut into the blocks parts.first[r] … parts.first[r+1]-1. `parts` outlives the layout.
  Layout cut_into(const Parts& parts) const;

  Count segments() const { return segments_; }
  Count segment() const { return segment_; }  ///< elements of a segment (of each part) but the last
  bool empty() const { return n_ == 0; }
  Count elements(Rank ranks) const;  ///< of all parts
  /// Do equal parts make all segments but the last alike?
  bool even() const { return kind_ != Kind::irregular; }
  bool cut_alike(const Layout& other) const { return n_ == other.n_ && segment_ == other.segment_; }
  /// Block `b` of segment `s`.
  Piece block(Block b, Count s) const;
  /// The first element of block `b` of the first segment.
  Count first(Block b) const { return block(b, 0).first; }
  /// Do the blocks of a segment lie one behind the other?
  bool adjacent() const { return kind_ == Kind::whole || (kind_ == Kind::per_rank && segments_ == 1); }

 private:
  enum class Kind : std::uint8_t { whole, per_rank, irregular };
  Layout(Kind kind, Count longest, Count segment);
  Piece part(Block r, Count start) const;

  Kind kind_;
  Count n_ = 0;  // elements in all (whole) or in each part (per_rank)
  Block blocks_ = 1;
  Count segment_ = 1;
  Count segments_ = 1;
  std::span<const Count> counts_;
  std::span<const Count> displacements_;
  const Parts* parts_ = nullptr;  // null: every part is one block
};

}  // namespace stretto::execute

// SPDX-License-Identifier: BSD-3-Clause
#include "execute/layout.hpp"

#include <algorithm>
#include <cassert>

namespace stretto::execute {

Piece uniform_piece(Count n, Block blocks, Block b) {
  const Count small = n / blocks;
  const Count larger = n % blocks;  // so many blocks have one element more
  return {b * small + std::min(b, larger), small + (b < larger ? 1 : 0)};
}

Layout::Layout(Kind kind, Count longest, Count segment)
    : kind_(kind),
      n_(longest),
      segment_(segment > 0 && segment < longest ? segment : std::max<Count>(longest, 1)),
      segments_(std::max<Count>((longest + segment_ - 1) / segment_, 1)) {}

Layout Layout::whole(Count n, Block blocks, Count segment) {
  Layout layout(Kind::whole, n, segment);
  layout.blocks_ = blocks;
  return layout;
}

Layout Layout::per_rank(Block ranks, Count each, Count segment) {
  Layout layout(Kind::per_rank, each, segment);
  layout.blocks_ = ranks;
  return layout;
}

Layout Layout::irregular(std::span<const Count> counts, std::span<const Count> displacements, Count segment) {
  assert(counts.size() == displacements.size());
  const Count longest = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  Layout layout(Kind::irregular, longest, segment);
  layout.blocks_ = static_cast<Block>(counts.size());
  layout.counts_ = counts;
  layout.displacements_ = displacements;
  return layout;
}

Piece Layout::block(Block b, Count s) const {
  const Count start = s * segment_;
  switch (kind_) {
    case Kind::whole: {
      const Piece piece = uniform_piece(std::min(segment_, n_ - start), blocks_, b);
      return {start + piece.first, piece.count};
    }
    case Kind::per_rank: return {b * n_ + start, std::min(segment_, n_ - start)};
    case Kind::irregular: break;
  }
  const Count count = counts_[static_cast<std::size_t>(b)];
  const Count from = std::min(start, count);
  return {displacements_[static_cast<std::size_t>(b)] + from, std::min(segment_, count - from)};
}

}  // namespace stretto::execute

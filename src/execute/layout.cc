// SPDX-License-Identifier: BSD-3-Clause
#include "execute/layout.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

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

Layout Layout::per_rank(Count each, Count segment) { return Layout(Kind::per_rank, each, segment); }

Layout Layout::irregular(std::span<const Count> counts, std::span<const Count> displacements, Count segment) {
  assert(counts.size() == displacements.size());
  const Count longest = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  Layout layout(Kind::irregular, longest, segment);
  layout.counts_ = counts;
  layout.displacements_ = displacements;
  return layout;
}

Count Layout::elements(Rank ranks) const {
  if (kind_ == Kind::irregular) return std::accumulate(counts_.begin(), counts_.end(), Count{0});
  return kind_ == Kind::whole ? n_ : n_ * ranks;
}

Layout Layout::cut_into(const Parts& parts) const {
  Layout layout = *this;
  if (!parts.first.empty()) layout.parts_ = &parts;
  return layout;
}

Piece Layout::part(Block r, Count start) const {
  const auto i = static_cast<std::size_t>(r);
  const Count count = kind_ == Kind::per_rank ? n_ : counts_[i];
  const Count at = kind_ == Kind::per_rank ? r * n_ : displacements_[i];
  const Count from = std::min(start, count);  // others may have more segments
  return {at + from, std::min(segment_, count - from)};
}

Piece Layout::block(Block b, Count s) const {
  const Count start = s * segment_;
  if (kind_ == Kind::whole) {
    const Piece piece = uniform_piece(std::min(segment_, n_ - start), blocks_, b);
    return {start + piece.first, piece.count};
  }
  if (!parts_) return part(b, start);
  const Rank owner = parts_->owner(b);
  const Piece whole = part(owner, start);
  const Piece piece = uniform_piece(whole.count, parts_->end(owner) - parts_->begin(owner), b - parts_->begin(owner));
  return {whole.first + piece.first, piece.count};
}

}  // namespace stretto::execute

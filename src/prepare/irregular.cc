// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/irregular.hpp"

#include <algorithm>

namespace stretto::intercept {

IrregularParts::IrregularParts(const DescribedParts& described, Rank ranks)
    : described_(described),
      storage_(described.own_types ? static_cast<std::size_t>(ranks) : 1),
      bytes_(stage_numbers(ranks), static_cast<std::size_t>(ranks)),
      places_(stage_numbers(ranks), static_cast<std::size_t>(ranks)),
      base_(described.buffer) {
  if (!described.counts.given() || !described.displacements.given() || !described.types) {
    unusable_ = Passed::arguments;
    return;
  }
  types_.resize(storage_.size());
  for (Rank r = 0; r < ranks; ++r) {
    const auto i = static_cast<std::size_t>(r);
    const Count count = described.counts[r];
    // A part of its own type may have none, if it is empty: MPICH allows it.
    const bool untyped = described.own_types && count == 0;
    if (count < 0 || (!untyped && described.type(r) == constants().type_null)) {
      unusable_ = Passed::arguments;
      return;
    }
    if (i < types_.size()) {
      types_[i] = untyped ? &storage_[i] : &facts_of(described.type(r), Use::move, storage_[i]);
      predefined_ = predefined_ && (untyped || types_[i] != &storage_[i]);
    }
    if (!untyped && !type(r).usable) {
      unusable_ = Passed::datatype;
      return;
    }
    bytes_[i] = count * type(r).element.size;
    places_[i] = displacement(r);
    dense_ = dense_ && (type(r).element.dense || count == 0);
  }
}

Bytes IrregularParts::sum() const {
  Bytes sum = 0;
  for (const Bytes b : bytes_) sum += b;
  return sum;
}

Bytes IrregularParts::largest() const { return bytes_.empty() ? 0 : *std::max_element(bytes_.begin(), bytes_.end()); }

void IrregularParts::copy(Bytes stride) {
  base_ = staging().take(stride > 0 ? stride * static_cast<Bytes>(bytes_.size()) : sum());
  Bytes place = 0;
  for (std::size_t r = 0; r < bytes_.size(); ++r) {
    places_[r] = place;
    place += stride > 0 ? stride : bytes_[r];
  }
  copied_ = true;
}

void IrregularParts::pack(Rank r) {
  if (copied_) pack_elements(type(r), program_part(r), described_.counts[r], static_cast<std::byte*>(at(r)));
}

void IrregularParts::pack() {
  for (Rank r = 0; r < static_cast<Rank>(bytes_.size()); ++r) pack(r);
}

void IrregularParts::unpack() {
  for (Rank r = 0; copied_ && r < static_cast<Rank>(bytes_.size()); ++r)
    unpack_elements(type(r), static_cast<const std::byte*>(at(r)), described_.counts[r], program_part(r));
}

}  // namespace stretto::intercept

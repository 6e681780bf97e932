// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/serve/irregular.hpp"

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
    const std::size_t t = described.own_types ? i : 0;
    const Count count = described.counts[r];
    if (count < 0 || described.type(r) == constants().type_null) {
      unusable_ = Passed::arguments;
      return;
    }
    if (t == i) types_[t] = &facts_of(described.type(r), Use::move, storage_[t]);
    const TypeFacts& type = *types_[t];
    if (!type.usable) {
      unusable_ = Passed::datatype;
      return;
    }
    bytes_[i] = count * type.element.size;
    places_[i] = described.displacements[r] * (described.own_types ? 1 : type.element.extent);
    dense_ = dense_ && (type.element.dense || count == 0);
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

const void* IrregularParts::program_part(Rank r) const {
  const auto& type = *types_[described_.own_types ? static_cast<std::size_t>(r) : 0];
  const Count displacement = described_.displacements[r] * (described_.own_types ? 1 : type.element.extent);
  return static_cast<const char*>(described_.buffer) + displacement;
}

void IrregularParts::pack(Rank r) {
  if (!copied_) return;
  const auto& type = *types_[described_.own_types ? static_cast<std::size_t>(r) : 0];
  pack_elements(type, program_part(r), described_.counts[r], static_cast<std::byte*>(at(r)));
}

void IrregularParts::pack() {
  for (Rank r = 0; copied_ && r < static_cast<Rank>(bytes_.size()); ++r) pack(r);
}

void IrregularParts::unpack() {
  for (Rank r = 0; copied_ && r < static_cast<Rank>(bytes_.size()); ++r) {
    const auto& type = *types_[described_.own_types ? static_cast<std::size_t>(r) : 0];
    unpack_elements(type, static_cast<const std::byte*>(at(r)), described_.counts[r],
                    const_cast<void*>(program_part(r)));
  }
}

}  // namespace stretto::intercept

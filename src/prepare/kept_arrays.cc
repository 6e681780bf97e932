// SPDX-License-Identifier: BSD-3-Clause
#include "prepare/kept_arrays.hpp"

#include <algorithm>
#include <cstring>

namespace stretto::mpi {

/// One array may be given for several arguments, in one of them with more parts: it is copied once, for calls may ask
/// whether two are the same.
void KeptArrays::add(const void* array, std::size_t bytes) {
  if (!array || bytes == 0) return;
  const auto found = std::ranges::find(arrays_, array, &Array::given);
  if (found == arrays_.end())
    arrays_.push_back({array, bytes});
  else
    found->bytes = std::max(found->bytes, bytes);
}

const void* KeptArrays::copy_of(const void* given) const {
  for (const Array& one : arrays_)
    if (one.given == given) return copies_.data() + one.at;
  return given;
}

void KeptArrays::keep(Arguments& arguments, std::array<Rank, 2> parts) {
  arrays_.clear();
  parts_ = {};
  for (std::size_t side = 0; side < parts.size(); ++side) {
    if (!arguments.parts[side]) continue;
    parts_[side] = *arguments.parts[side];
    arguments.parts[side] = &parts_[side];
    const std::size_t n = given_[side] = static_cast<std::size_t>(parts[side]);
    for (const Numbers* numbers : {&parts_[side].counts, &parts_[side].displacements})
      add(numbers->data(), n * numbers->bytes_of_one());
    add(parts_[side].types, n * sizeof(MPI_Datatype));
  }
  constexpr std::size_t aligned = alignof(std::max_align_t);
  std::size_t all = 0;
  for (Array& one : arrays_) {
    one.at = all;
    all += (one.bytes + aligned - 1) / aligned * aligned;
  }
  copies_.resize(all);
  for (const Array& one : arrays_) std::memcpy(copies_.data() + one.at, one.given, one.bytes);
  for (PartsArguments& of : parts_) {
    of.counts = of.counts.moved_to(copy_of(of.counts.data()));
    of.displacements = of.displacements.moved_to(copy_of(of.displacements.data()));
    of.types = static_cast<const MPI_Datatype*>(copy_of(of.types));
  }
}

}  // namespace stretto::mpi

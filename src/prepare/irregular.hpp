// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of different sizes, anywhere in the program's memory, as the engine sees them: bytes.
#pragma once

#include <vector>

#include "prepare/common.hpp"

namespace stretto::intercept {

/// The parts of a DescribedParts. If any of their types has holes, all of them travel through a packed copy.
class IrregularParts {
 public:
  /// `described` outlives this.
  IrregularParts(const DescribedParts& described, Rank ranks);

  /// Null if the arguments and types can be served, else why not.
  const std::optional<Passed>& unusable() const { return unusable_; }
  Bytes bytes(Rank r) const { return bytes_[static_cast<std::size_t>(r)]; }
  std::span<const Count> all_bytes() const { return bytes_; }
  Bytes sum() const;
  Bytes largest() const;

  /// May the call be kept for replay()? Types are MPI's own, and the engine works in the program's memory.
  bool replayable() const { return predefined_ && dense_ && !copied_; }

  /// From now on the parts are in a copy of their own, one behind the other or each at a multiple of `stride`.
  void copy(Bytes stride = 0);
  void copy_if_needed() {
    if (!dense_) copy();
  }
  /// Copies the program's part `r` into the copy, if there is one, or all of them.
  void pack(Rank r);
  void pack();
  void unpack();

  /// After copy(stride): all parts as large as `stride`.
  execute::Region even_region(Bytes stride, Count segment) const {
    return {base_, execute::Layout::per_rank(stride, segment)};
  }

  /// Where part `r` is for the engine.
  void* at(Rank r) const { return static_cast<char*>(base_) + places_[static_cast<std::size_t>(r)]; }
  execute::Region region(Count segment, const Parts& cut) const {
    return {base_, execute::Layout::irregular(bytes_, places_, segment).cut_into(cut)};
  }

 private:
  const TypeFacts& type(Rank r) const { return *types_[described_.own_types ? static_cast<std::size_t>(r) : 0]; }
  /// In bytes, from the program's buffer.
  Bytes displacement(Rank r) const {
    return described_.displacements[r] * (described_.own_types ? 1 : type(r).element.extent);
  }
  void* program_part(Rank r) const { return static_cast<char*>(described_.buffer) + displacement(r); }

  const DescribedParts& described_;
  std::vector<TypeFacts> storage_;
  std::vector<const TypeFacts*> types_;  // of each part, or one for all
  std::span<Count> bytes_, places_;      // of each part; places in bytes from base_
  void* base_;
  bool predefined_ = true;
  bool dense_ = true;
  bool copied_ = false;
  std::optional<Passed> unusable_;
};

}  // namespace stretto::intercept

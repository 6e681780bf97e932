// SPDX-License-Identifier: BSD-3-Clause
//
// How large the parts of a call are, and where they lie in a buffer.
#pragma once

#include "forms.hpp"
#include "model.hpp"

namespace stretto::differential {

/// In elements of the call's signature.
class PartCounts {
 public:
  /// About `base` for each part on average, not more in all than for each rank `base`. Where a rank has parts of its
  /// own sizes for others, these are `columns`.
  PartCounts(const Form& form, int ranks, int columns, bool in_place, int base, Random& random);

  /// Of the part that `from` sends to `to`, or its part `to`; where a part has but one such rank, the other does not
  /// matter.
  int at(int from, int to) const;

 private:
  bool pairwise_;
  bool by_sender_;
  std::size_t columns_;
  std::vector<int> counts_;
};

/// Where parts of so many elements begin: one behind the other, or with gaps, in any order, and before the address.
std::vector<std::ptrdiff_t> random_places(const std::vector<int>& counts, Random& random);
/// One behind the other.
std::vector<std::ptrdiff_t> regular_places(const std::vector<int>& counts);
/// In bytes, for parts of several types.
std::vector<std::ptrdiff_t> random_places(const std::vector<ModelPointer>& models, const std::vector<int>& counts,
                                          Random& random);

}  // namespace stretto::differential

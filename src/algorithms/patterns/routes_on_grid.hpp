// SPDX-License-Identifier: BSD-3-Clause
//
// On a torus or grid: dimension by dimension, to the ranks that differ in this one only. A rank of a stencil in n
// dimensions sends 2n messages instead of 3^n - 1.
#pragma once

#include <numeric>
#include <string>

#include "algorithms/patterns/routes.hpp"

namespace stretto::patterns {

class GridRoute {
 public:
  GridRoute(const Params& params) : dims_(params.list) {}
  int steps() const { return static_cast<int>(dims_.size()); }
  /// The first `step` coordinates are the destination's, the others the source's.
  Rank operator()(Rank source, Rank destination, int step) const {
    Rank stride = 1;
    for (std::size_t d = static_cast<std::size_t>(step); d < dims_.size(); ++d) stride *= dims_[d];
    return destination / stride * stride + source % stride;
  }

 private:
  const std::vector<Rank>& dims_;
};

/// `misfit` of an algorithm that takes the list "dims".
inline std::string dims_misfit(const Shape& shape, const Params& params) {
  std::int64_t product = 1;
  for (const Rank size : params.list) {
    if (size < 1) return "a dimension of " + std::to_string(size) + " ranks";
    product *= size;
    if (product > shape.ranks) break;
  }
  return product == shape.ranks ? "" : "the dimensions do not make " + std::to_string(shape.ranks) + " ranks";
}

}  // namespace stretto::patterns

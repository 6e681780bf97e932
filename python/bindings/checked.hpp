// SPDX-License-Identifier: BSD-3-Clause
//
// In C++ these are preconditions; Python gets a stretto.Error.
#pragma once

#include <string>

#include "stretto/algorithm.hpp"
#include "stretto/error.hpp"

namespace stretto::python {

/// Throws Error if the algorithm goes by counts and `shape` has none.
void require_counts(const Algorithm& algorithm, const Shape& shape);

/// Throws Error if the algorithm cannot be built so.
void require_suitable(const Algorithm& algorithm, const Shape& shape, const Params& params);

/// The algorithm whose schedules stand in this file; never freed. Throws Error that names file and line.
const Algorithm& algorithm_of_file(const std::string& path);

}  // namespace stretto::python

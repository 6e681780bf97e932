// SPDX-License-Identifier: BSD-3-Clause
//
// What the files of the bindings share. Each has one function, for the public header that it is named for.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "stretto/algorithm.hpp"
#include "stretto/error.hpp"

// In the order in which module.cpp calls them.
// clang-format off
#define STRETTO_BINDINGS(X) \
  X(error) X(schedule) X(builder) X(collective) X(graph) X(function) X(algorithm) X(check) X(algorithm_file) \
  X(variants) X(rules) X(sources) X(machine) X(cost) X(simulate) X(topology)
// clang-format on

namespace stretto::python {

namespace nb = nanobind;

#define STRETTO_REGISTER(header) void register_##header(nb::module_& m);
STRETTO_BINDINGS(STRETTO_REGISTER)
#undef STRETTO_REGISTER

// In C++ these are preconditions; Python gets a stretto.Error.

/// Throws Error if the algorithm goes by counts and `shape` has none.
void require_counts(const Algorithm& algorithm, const Shape& shape);

/// Throws Error if the algorithm cannot be built so.
void require_suitable(const Algorithm& algorithm, const Shape& shape, const Params& params);

/// The algorithm whose schedules stand in this file; never freed. Throws Error that names file and line.
const Algorithm& algorithm_of_file(const std::string& path);

}  // namespace stretto::python

// SPDX-License-Identifier: BSD-3-Clause
//
// What the driver prints, and what it measures to print it: one JSON object a line, by rank 0.
#pragma once

#include <string>
#include <vector>

#include "measure/compare.hpp"

namespace stretto::measure {

// `seconds`: that all this took.

void print_machine(int ranks, int nodes, const std::string& library);
void print(const Point& point, const Result& result, int ranks, double seconds);
void print(const std::vector<Point>& group, const GroupResult& result, int ranks, double seconds);
void print(const Point& point, const OverlapResult& result, int ranks, double seconds);
void print(const Point& point, const std::vector<CandidateResult>& candidates, int ranks, double seconds);
/// How fast the kernels of the reductions are on this core, beside each other, for machine files: of all predefined
/// operators, on all types that they are defined for, the seconds per byte over those of the sum of f64. Measures them,
/// which takes a second or two.
void print_reductions();
void print_progress(std::size_t done, std::size_t of);
void print_stage(const std::string& what);

}  // namespace stretto::measure

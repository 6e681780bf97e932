// SPDX-License-Identifier: BSD-3-Clause
//
// Native against Stretto in one process, in batches of calls that take turns: one point, or two; or native alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure/sampler.hpp"

namespace stretto::measure {

struct Result {
  Time native;
  Time stretto;           ///< no calls: native alone was timed
  int batches;            ///< of each library
  bool correct;           ///< in every repetition, on every rank
  std::string algorithm;  ///< id, or "native"
  double seconds;         ///< that all this took
};

/// What begins ("Stretto", "native", "both", a candidate's words): whoever waits in vain knows whose calls do not end.
using Announce = std::function<void(const std::string&)>;

/// With what is compared, and for how long.
struct Setting {
  const Library& native;
  const Library& stretto;
  double seconds;  ///< for each point
  Announce announce;
};

/// Collective over MPI_COMM_WORLD; the result is the same on all ranks, but for `algorithm`.
Result compare(const Point& point, const Setting& setting);

/// The native library alone, as `compare` times it; one call of Stretto's says what the result must be.
Result time_native(const Point& point, const Setting& setting);

/// Two points that are to be compared, under both libraries: all four take turns.
struct Pair {
  Point left;
  Point right;
};

struct PairResult {
  std::vector<Batch> native[2];  ///< of left and right
  std::vector<Batch> stretto[2];
  std::string algorithms[2];
  bool correct;  ///< and, where both points are to have the same results, these are the same
  double seconds;
};

PairResult compare(const Pair& pair, const Setting& setting);

}  // namespace stretto::measure

// SPDX-License-Identifier: BSD-3-Clause
//
// Native against Stretto in one process, in batches of calls that take turns: one point, or several; or native alone.
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
  Form native_form;       ///< blocking where the native library is not timed in the form that was asked for
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

/// Of points that are compared with each other.
struct GroupResult {
  std::vector<std::vector<Batch>> native;  ///< of each point; nothing: none was timed
  std::vector<std::vector<Batch>> stretto;
  std::vector<std::string> algorithms;
  bool correct;  ///< and, where points are to have the same results, these are the same
  double seconds;
};

/// Two points or more under both libraries: all take turns.
GroupResult compare(const std::vector<Point>& group, const Setting& setting);

}  // namespace stretto::measure

// SPDX-License-Identifier: BSD-3-Clause
//
// Native against Stretto in one process, in batches of calls that take turns: one point, or several; or native alone;
// or the calls of a point beside computation; or many candidates for one.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "measure/sampler.hpp"

namespace stretto::measure {

struct Result {
  Time native;            ///< no calls: Stretto alone was timed
  Time stretto;           ///< no calls: native alone was timed
  int batches;            ///< of each library
  bool correct;           ///< in every repetition, on every rank
  std::string algorithm;  ///< id, or "native"
  Form native_form;       ///< blocking where the native library is not timed in the form that was asked for
};

/// With what is compared, and for how long.
struct Setting {
  const Library& native;
  const StrettoLibrary& stretto;
  double seconds;  ///< for each point
  /// What begins ("Stretto", "native", "both", a candidate's words): who waits in vain knows whose calls do not end.
  std::function<void(const std::string&)> announce;
};

/// Collective over MPI_COMM_WORLD; the result is the same on all ranks, but for `algorithm`.
Result compare(const Point& point, const Setting& setting);

/// One of the two alone, as `compare` times it; one call of the other says what the result must be.
Result time_alone(const Point& point, const Setting& setting, bool stretto);

/// Of points that are compared with each other.
struct GroupResult {
  std::vector<std::vector<Batch>> native;  ///< of each point; nothing: none was timed
  std::vector<std::vector<Batch>> stretto;
  std::vector<std::string> algorithms;
  bool correct;  ///< and, where points are to have the same results, these are the same
};

/// Two points or more under both libraries: all take turns.
GroupResult compare(const std::vector<Point>& group, const Setting& setting);

// How much of a nonblocking call goes on while the program computes and calls no MPI, as the OSU benchmarks and IMB-NBC
// ask: I… and MPI_Wait alone, a computation of that length alone, and the computation between the two.

struct OverlapResult {
  std::vector<std::vector<Batch>> native;  ///< of the call, of the computation, of both
  std::vector<std::vector<Batch>> stretto;
  std::string algorithm;
  bool correct;
};

/// Of a point with nonblocking, synchronised calls. Both libraries take turns. `elsewhere`: the computation takes none
/// of these cores, as if each rank had one of its own for it.
OverlapResult overlap(const Point& point, const Setting& setting, bool elsewhere);

// A paired benchmark: many candidates for one point, in batches of calls that take turns, in one process: on one
// communicator, which is told before each batch whose turn it is. Those that are certain to be slower are dropped on
// the way.

struct CandidateResult {
  std::string words;      ///< as in an info key: "ring,segment=64K"; "native" is the native library itself
  std::string algorithm;  ///< id of what served its calls, or "native"
  Time time;
  int batches;   ///< fewer than the best has: it was dropped
  bool correct;  ///< after every batch, on every rank
};

inline bool all_correct(const std::vector<CandidateResult>& candidates) {
  return std::ranges::all_of(candidates, &CandidateResult::correct);
}

/// Candidates behind a '+', which is no part of their words, are never dropped; the native library is no candidate for
/// the best, and timed as long as it is near it. Its results are the ones to have; if it does not take part, those of
/// Stretto's own choice. `shared`: a copy of MPI_COMM_WORLD for the candidates of all benchmarks, so that where its
/// memory lies favours none of them. Ends before its time when at most one candidate is left. Collective; the result is
/// the same on all ranks, but for `algorithm`.
std::vector<CandidateResult> paired_benchmark(const Point& point, const std::vector<std::string>& candidates,
                                              MPI_Comm shared, double longest_batch, const Setting& setting);

}  // namespace stretto::measure

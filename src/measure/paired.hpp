// SPDX-License-Identifier: BSD-3-Clause
//
// A paired benchmark: many candidates for one point, in batches of calls that take turns, in one process: on one
// communicator, which is told before each batch whose turn it is. Those that are certain to be slower are dropped on
// the way.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "measure/compare.hpp"

namespace stretto::measure {

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

/// A communicator for the candidates of all benchmarks: where its memory lies favours none of them.
class SharedCommunicator {
 public:
  explicit SharedCommunicator(const StrettoLibrary& library);
  ~SharedCommunicator();
  SharedCommunicator(const SharedCommunicator&) = delete;
  SharedCommunicator& operator=(const SharedCommunicator&) = delete;

  MPI_Comm comm() const { return comm_; }
  const StrettoLibrary& library() const { return library_; }

 private:
  const StrettoLibrary& library_;
  MPI_Comm comm_ = mpi::constants().comm_null;
};

/// Candidates behind a '+', which is no part of their words, are never dropped; the native library is no candidate for
/// the best, and timed as long as it is near it. Its results are the ones to have; if it does not take part, those of
/// Stretto's own choice. Ends before its time when at most one candidate is left. Collective over MPI_COMM_WORLD; the
/// result is the same on all ranks, but for `algorithm`.
std::vector<CandidateResult> paired_benchmark(const Point& point, const std::vector<std::string>& candidates,
                                              const SharedCommunicator& shared, double longest_batch,
                                              const Setting& setting);

}  // namespace stretto::measure

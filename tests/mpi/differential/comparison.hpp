// SPDX-License-Identifier: BSD-3-Clause
//
// Makes a planned call natively and, in one or more turns, with Stretto, and compares what it left in memory.
#pragma once

#include <string>

#include "counts.hpp"
#include "library.hpp"
#include "memory.hpp"
#include "oracle.hpp"

namespace stretto::differential {

/// What all comparisons of a run share.
struct Run {
  const Options& options;
  Functions native;
  Oracle oracle;
  Counts counts;
  bool planted = false;
};

/// Ranks agree whether the native library can be asked. Collective over the communicator; false where nobody can make
/// the call.
bool settle(Plan& plan, const Run& run);

class Comparison {
 public:
  Comparison(Plan plan, Run& run, const Library& stretto);
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  const Plan& plan() const { return plan_; }
  int turns() const { return turn_ + 1; }  ///< that were begun

  /// In memory of its own.
  void call_native();
  /// Makes a persistent request.
  void initialize();
  /// The next turn of a call that is blocking or nonblocking.
  void call();
  /// The next turn of a persistent request, which the caller then starts.
  void prepare();
  /// After the start: says what served it.
  void started(const std::string& algorithm);
  MPI_Request& request() { return request_; }
  /// Whether its request is the MPI's own, as far as is known.
  bool may_be_native() const { return algorithm_.find('/') == std::string::npos; }
  /// After a turn's end.
  void check();

 private:
  Call bind_stretto();
  const Buffer& expected(int turn);
  [[noreturn]] void fail(const std::string& what) const;

  const Plan plan_;
  Run& run_;
  const Library& stretto_;
  int turn_ = -1;
  AllocatedMemory memory_;
  Buffer input_, output_;
  Buffer input_before_, expected_;
  int turn_of_expected_ = -1;
  Call call_;
  MPI_Request request_ = mpi::constants().request_null;
  std::string algorithm_;
};

}  // namespace stretto::differential

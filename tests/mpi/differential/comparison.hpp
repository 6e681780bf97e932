// SPDX-License-Identifier: BSD-3-Clause
//
// Makes a planned call twice, natively and with Stretto, and compares what it left in memory.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "buffer.hpp"
#include "intercept/native.hpp"
#include "plan.hpp"

namespace stretto::differential {

#define STRETTO_EACH_COLLECTIVE(X) X(Barrier) X(Bcast) X(Reduce) X(Allreduce) X(Allgather) X(Reduce_scatter_block)
#ifdef STRETTO_MPICH
#define STRETTO_EACH_LARGE_COLLECTIVE(X) X(Bcast_c) X(Reduce_c) X(Allreduce_c) X(Allgather_c) X(Reduce_scatter_block_c)
#else
#define STRETTO_EACH_LARGE_COLLECTIVE(X)
#endif

/// The same collectives, once the native library's and once Stretto's.
struct Functions {
#define STRETTO_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  STRETTO_EACH_COLLECTIVE(STRETTO_MEMBER)
  STRETTO_EACH_LARGE_COLLECTIVE(STRETTO_MEMBER)
#undef STRETTO_MEMBER
};

class Comparison {
 public:
  Comparison(const Options& options, const Functions& native, const Functions& stretto,
             const char* (*last_algorithm)());

  /// What differs, in words.
  std::optional<std::string> run(const Plan& plan);

  std::int64_t computed() const { return computed_; }          ///< calls that were not made natively
  std::int64_t native_wrong() const { return native_wrong_; }  ///< calls whose native result was wrong on this rank
  /// Calls by algorithm, "allreduce/native" for those that were passed on.
  const std::map<std::string, std::int64_t>& served() const { return served_; }

 private:
  Buffer send_buffer(const Plan& plan) const;
  Buffer receive_buffer(const Plan& plan) const;
  void compute_move(const Plan& plan, Buffer& expected) const;
  void compute_reduction(const Plan& plan, Buffer& expected) const;
  void compare_native(const Plan& plan, Buffer& expected);
  std::optional<std::string> run_stretto(const Plan& plan, Buffer& input, Buffer& output);
  std::uint64_t stream(const Plan& plan, int rank) const;

  const Options& options_;
  const Functions& native_;
  const Functions& stretto_;
  const char* (*last_algorithm_)();
  bool planted_ = false;
  std::int64_t computed_ = 0;
  std::int64_t native_wrong_ = 0;
  std::map<std::string, std::int64_t> served_;
};

}  // namespace stretto::differential

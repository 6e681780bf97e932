// SPDX-License-Identifier: BSD-3-Clause
//
// Makes a planned call twice, natively and with Stretto, and compares what it left in memory.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "buffer.hpp"
#include "library.hpp"

namespace stretto::differential {

class Comparison {
 public:
  Comparison(const Options& options, const Functions& native) : options_(options), native_(native) {}

  /// What differs, in words.
  std::optional<std::string> run(Plan plan, const Library& stretto);

  std::int64_t computed() const { return computed_; }          ///< calls that were not made natively
  std::int64_t native_wrong() const { return native_wrong_; }  ///< calls whose native result was wrong on this rank
  /// Calls by function and algorithm, "allgatherv/ring"; "allgatherv/native" for those that were passed on.
  const std::map<std::string, std::int64_t>& served() const { return served_; }

 private:
  bool all_trust_native(const Plan& plan) const;
  Buffer send_buffer(const Plan& plan) const;
  Buffer receive_buffer(const Plan& plan) const;
  void compute_move(const Plan& plan, Buffer& expected) const;
  void compute_reduction(const Plan& plan, Buffer& expected) const;
  void compute(const Plan& plan, Buffer& expected);
  std::optional<std::string> run_stretto(const Plan& plan, const Library& stretto, Buffer& input, Buffer& output);
  std::uint64_t stream(const Plan& plan, int from, int to = 0) const;

  const Options& options_;
  const Functions& native_;
  bool planted_ = false;
  std::int64_t computed_ = 0;
  std::int64_t native_wrong_ = 0;
  std::map<std::string, std::int64_t> served_;
};

}  // namespace stretto::differential

// SPDX-License-Identifier: BSD-3-Clause
//
// What the driver is asked to measure: words of its command line, and the file that names candidates for each point.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/compare.hpp"
#include "support/text.hpp"

namespace stretto::measure {

template <typename Each>
void for_each_word(std::string_view list, char separator, Each each) {
  while (!list.empty()) {
    const std::string_view word = take_until(list, separator);
    if (!word.empty()) each(word);
  }
}

struct PointSpec {
  Benchmark benchmark;
  Bytes bytes;
  Mode mode = Mode::back_to_back;
  Form form = Form::blocking;
};

// All throw stretto::Error.
Bytes size_of(std::string_view word);
Mode mode_of(std::string_view word);
Form form_of(std::string_view word);
PointSpec spec_of(std::string_view word);  ///< "allreduce:8", "allreduce:8:synchronised", "allreduce:8:nonblocking"
std::vector<PointSpec> group_of(std::string_view word);  ///< "allreduce:8/allreduce:16", or more
Point checked_point(const PointSpec& spec, int ranks);

/// Sizes in the proportion that was asked for: if the first must be rounded it takes the others with it.
std::vector<Point> rounded(const std::vector<PointSpec>& group, int ranks);

struct PlannedPoint {
  PointSpec spec;
  std::vector<std::string> candidates;
};

/// A line for each point: "allreduce:64K native +linear ring,segment=16K". Rank 0 reads the file for all.
std::vector<PlannedPoint> read_plan(const std::string& path, int rank);

}  // namespace stretto::measure

// SPDX-License-Identifier: BSD-3-Clause
//
// The file that keeps what was learned: rules as any others, merged run after run.
#pragma once

#include <string>
#include <vector>

#include "learn/candidates.hpp"

namespace stretto::learn {

/// What was learned about a class of calls.
struct Learned {
  std::string conditions;  ///< as conditions() writes them
  Candidate choice;
  double seconds = 0;         ///< of a call, the slowest rank's
  double native_seconds = 0;  ///< 0: not known
  std::size_t pairs = 0;      ///< of calls that were timed
};

/// The text of the file `before` (empty: there is none) with `learned` in it: a class has one line, and what was
/// learned last counts. If that were more than can be read again, the lines that rest on the fewest calls are left out.
/// Throws stretto::Error, with `path` and the line, if `before` is not rules that were learned with `machine`.
std::string merged(const std::string& before, const std::string& path, const std::string& machine,
                   const std::vector<Learned>& learned);

/// Merges `learned` into the file, which need not be there, nor its folder; other processes that do so at the same time
/// wait for each other, and whoever reads it finds the old file or the new one. Throws stretto::Error.
void merge_into(const std::string& path, const std::string& machine, const std::vector<Learned>& learned);

}  // namespace stretto::learn

// SPDX-License-Identifier: BSD-3-Clause
//
// Algorithms whose schedules somebody else has made: in a file, or in Python.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stretto/check.hpp"

namespace stretto {

/// The schedules of an algorithm for some numbers of ranks and, if it has one, roots. Its record is like any other but
/// that unsuitable() proves them first: what is not proved has no schedule, and no cost.
class AlgorithmFile {
 public:
  /// Whose schedules there are: of all ranks, for a number of them and a root.
  struct Case {
    Rank ranks, root;
    auto operator<=>(const Case&) const = default;
  };

  /// `id` is that of the record: "allgather/ring". Throws stretto::Error where ranks are missing or stand twice.
  AlgorithmFile(std::string id, bool commutative, std::vector<Schedule> schedules);
  /// From the text of a file. The record's id is "allgather/file:PATH". Throws stretto::Error that names `path` and the
  /// line.
  AlgorithmFile(std::string_view text, const std::string& path);

  AlgorithmFile& operator=(AlgorithmFile&&) = delete;

  const Algorithm& algorithm() const { return record_; }
  std::vector<Case> cases() const;
  /// Of all ranks. Throws stretto::Error if the file has none for the case.
  const std::vector<Schedule>& schedules(Case wanted) const;
  /// The proof, in place too where that is allowed; made when it is first asked for. A refusal's message begins with
  /// file and line. Throws as schedules() does.
  const Checked& proof(Case wanted) const;
  /// Why the schedules for such a call may not be used: in words, empty if they may.
  std::string misfit(const Shape& shape) const;
  /// What is to be said of a refusal: the first time that this is asked for the shape, else empty.
  std::string news(const Shape& shape) const;
  /// The file, as it is read back.
  std::string text() const;

 private:
  struct Set {
    std::vector<Schedule> schedules;
    std::vector<std::vector<int>> lines;  // of each rank, as in ScheduleFile; none if it was not read
    std::optional<Checked> checked;
    bool told = false;
  };

  void take(std::vector<Schedule> schedules, std::vector<std::vector<int>> lines);
  void refuse_unusable(const Schedule& schedule, const std::string& at) const;
  void fill_record(bool commutative);
  const Set& set(Case wanted) const;
  std::string no_case(Case wanted) const;
  Checked prove(Case wanted, const Set& set) const;

  std::string id_;
  std::string path_;  // empty: it was not read
  std::string summary_;
  Algorithm record_;
  mutable std::mutex mutex_;  // of what is proved and told
  mutable std::map<Case, Set> sets_;
};

}  // namespace stretto

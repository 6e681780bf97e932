// SPDX-License-Identifier: BSD-3-Clause
//
// What the race measures: a function at one size, with buffers for the native library's result and for Stretto's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intercept/native.hpp"
#include "stretto/function.hpp"

namespace stretto::race {

/// The same functions, once the native library's and once Stretto's.
struct Functions {
#define STRETTO_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  STRETTO_NATIVE_COLLECTIVES(STRETTO_MEMBER)
#undef STRETTO_MEMBER
};

/// Sums of doubles and parts that fall linearly; or sums that are said not to commute, pairs of MPI_DOUBLE_INT by
/// MPI_MAXLOC, all data on rank 0, or each part half of the one before.
enum class Variant : std::uint8_t { usual, ordered, maxloc, spike, halving };

struct Kind {
  Function function;
  Variant variant = Variant::usual;
};

/// "allreduce", "allreduce-maxloc", "allgatherv-spike", …
std::string name_of(const Kind& kind);
std::optional<Kind> kind_named(std::string_view name);

struct Cell {
  Kind kind;
  Bytes bytes;  ///< of the vector; of each rank's part, on average, where a call moves parts
  Bytes asked;  ///< what the user asked for: `bytes` are whole elements; 0 of a barrier
};

/// The sizes that can be measured: whole elements, for reductions into parts one for each rank.
Cell cell_of(const Kind& kind, Bytes wish, int ranks);

/// A cell's buffers and its call. Values are small whole numbers: their sums are exact in any order.
class Runner {
 public:
  explicit Runner(const Cell& cell);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Fills the inputs with values that no repetition before had.
  void refresh(int repetition);
  void call(const Functions& f, bool stretto, MPI_Comm comm);
  /// What stands in Stretto's output before a call is no result.
  void spoil();
  /// Of the results on this rank.
  bool equal() const;

 private:
  void describe_pairs();

  Kind kind_;
  int rank_ = 0;
  int ranks_ = 1;
  MPI_Datatype type_ = MPI_DOUBLE;
  MPI_Op op_ = MPI_SUM;
  std::size_t doubles_ = 1;  // an element takes the room of so many
  int mine_ = 0;
  std::vector<int> counts_, displacements_;
  std::vector<int> in_counts_, in_displacements_, in_bytes_, out_bytes_;  // of alltoallv and alltoallw
  std::vector<MPI_Datatype> types_;
  std::vector<double> in_, native_out_, stretto_out_;
};

}  // namespace stretto::race

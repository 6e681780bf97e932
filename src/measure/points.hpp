// SPDX-License-Identifier: BSD-3-Clause
//
// What is measured: a function at one size, or other functions in its place, with buffers for the native
// library's result and for Stretto's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/library.hpp"

namespace stretto::measure {

/// Sums of doubles and parts that fall linearly; or sums that are said not to commute, pairs of MPI_DOUBLE_INT by
/// MPI_MAXLOC, all data on rank 0, each part half of the one before, or all parts alike.
enum class Variant : std::uint8_t { usual, ordered, maxloc, spike, halving, even };

struct Component {
  Callee callee;
  Buffer from = Buffer::input;
  Buffer to = Buffer::output;
};

struct Benchmark {
  Function function;
  Variant variant = Variant::usual;
  std::span<const Component> components = {};  ///< of the calls that take the function's place; none: itself
};

/// "allreduce", "allreduce-maxloc", "allreduce-by-reduce+bcast", …
std::string name_of(const Benchmark& benchmark);
/// Throws stretto::Error.
Benchmark benchmark_named(std::string_view name);

/// How calls follow one another: at once, where one may begin while others still end the last; or each after a barrier.
/// The time of a call is then that of its slowest rank.
enum class Mode : std::uint8_t { back_to_back, synchronised };

constexpr std::string_view name_of(Mode mode) { return mode == Mode::synchronised ? "synchronised" : "back-to-back"; }

struct Point {
  Benchmark benchmark;
  Bytes bytes;  ///< of the vector; of each rank's part, on average, where a call moves parts
  Bytes asked;  ///< what the user asked for: `bytes` are whole elements; 0 of a barrier
  Mode mode = Mode::back_to_back;
  Form form = Form::blocking;
};

/// From now on functions that want neighbours have those of this graph, as parse_graph() reads it. Throws
/// stretto::Error.
void take_graph(std::string_view text, int ranks);

/// The sizes that can be measured: whole elements, one for each rank where a vector is cut into parts.
Point point_of(const Benchmark& benchmark, Bytes asked, int ranks);

/// A point's buffers and its calls. Values are small whole numbers: their sums are exact in any order.
class Runner {
 public:
  explicit Runner(const Point& point);
  ~Runner();
  Runner& operator=(Runner&&) = delete;  // calls point into it

  /// Fills the inputs with values that no repetition before had.
  void refresh(int repetition);
  /// The world, with a topology for functions that want neighbours.
  MPI_Comm comm() const { return comm_; }
  Mode mode() const { return mode_; }
  Form form() const { return form_; }
  void call(const Functions& f, bool stretto) { call(f, stretto, comm_); }
  void call(const Functions& f, bool stretto, MPI_Comm comm) {
    for (Call& one : calls_[stretto ? 1 : 0]) {
      one.arguments.comm = comm;
      one.call(f, one.arguments);
    }
  }
  /// Stretto's first; "reduce/linear+bcast/linear", by what each of its functions says afterwards.
  std::string call_and_name(const Library& stretto);
  /// What stands in Stretto's output before a call is no result.
  void spoil();
  /// Of the results on this rank.
  bool equal() const;
  /// The same result on this rank as of another point, where both are to have the same.
  bool agrees(const Runner& other) const;

 private:
  struct Call {
    decltype(CallFacts::call) call;
    CallArguments arguments;
  };

  std::span<const Component> components() const {
    return benchmark_.components.empty() ? std::span(&self_, 1) : benchmark_.components;
  }
  void count(const Point& point);
  void describe_pairs();
  std::size_t room(Buffer which) const;
  bool has_result() const;
  bool same(const std::vector<double>& a, const std::vector<double>& b) const;
  Call prepared(const Component& component, bool stretto);

  Benchmark benchmark_;
  Mode mode_;
  Form form_;
  Component self_;
  MPI_Comm comm_;
  int rank_ = 0;
  int ranks_ = 1;
  MPI_Datatype type_ = MPI_DOUBLE;
  MPI_Op op_ = MPI_SUM;
  std::size_t doubles_ = 1;  // an element takes the room of so many
  int mine_ = 0;
  std::int64_t vector_ = 0;
  std::size_t destinations_ = 0;  // of parts that I send, one for each rank or neighbour
  std::vector<int> counts_, displacements_;
  std::vector<int> in_counts_, in_displacements_, in_bytes_, out_bytes_;  // of those with parts for each and own sizes
  std::vector<MPI_Aint> in_far_, out_far_;
  std::vector<MPI_Datatype> types_;
  std::vector<double> in_, between_[2], out_[2];  // native, Stretto
  std::vector<Call> calls_[2];
};

}  // namespace stretto::measure

// SPDX-License-Identifier: BSD-3-Clause
//
// The record of an algorithm and the list of all of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stretto/function.hpp"

namespace stretto {

class Builder;
class AlgorithmFile;

/// "file:ring.stretto": so begins the name of an algorithm whose schedules a file gives.
inline constexpr std::string_view file_prefix = "file:";

/// How long messages go from one rank to another on a node: twice through shared memory; once, by the kernel, where
/// that is permitted; or each as measured of those before it, where the kernel is permitted to.
enum class Copy : std::uint8_t { staged, kernel, measured };

/// What the chooser may vary.
struct Params {
  Bytes segment = 0;                    ///< the call is cut into segments of so many bytes of the vector; 0: not cut
  int depth = 2;                        ///< segments in flight
  std::int64_t value = 0;               ///< of the algorithm's own parameter; 0: its default
  std::vector<Rank> list{};             ///< of the algorithm's own list; empty: its default
  Copy copy = Copy::staged;             ///< of long messages on a node
  const AlgorithmFile* file = nullptr;  ///< the algorithm's own; set by resolved()
  bool operator==(const Params&) const = default;
};

/// Two copies of less are faster than one by the kernel.
inline constexpr Bytes least_lent = 12 << 10;

/// A number that an algorithm leaves open, such as the radix of a tree.
struct Parameter {
  std::string_view name;                                  ///< "radix", as in "radix=4"; empty: there is none
  std::int64_t least = 1;                                 ///< the smallest value
  std::int64_t most = 1 << 16;                            ///< the largest: schedules may grow with it
  std::int64_t (*default_value)(const Shape&) = nullptr;  ///< the value if none is given
};

enum class RanksNeeded : std::uint8_t { any, even, power_of_two };

struct Needs {
  bool commutative = false;  ///< the operator's; false also promises that rank order is kept
  RanksNeeded ranks = RanksNeeded::any;
  bool irregular = false;    ///< for the functions whose parts differ in size: pointless for the others
  bool counts = false;       ///< the schedule depends on Shape::counts
  bool whole_graph = false;  ///< every rank must know the neighbours of all
};

/// One algorithm. Rounds and blocks are counted along the longest chain of rounds, as in the papers' formulas; blocks
/// are out of `blocks(shape, params)`. The checker holds the schedules to these numbers; where `at_most` says so they
/// are bounds. All functions are given parameters that resolved() has filled in.
struct Algorithm {
  std::string_view id;       ///< "allreduce/ring": the path of its file, and its name everywhere
  std::string_view summary;  ///< one sentence
  std::string_view source;   ///< paper and section
  std::string_view volume;   ///< sent / blocks in words, as a share of the vector: "2(p-1)/p"
  Collective collective;
  Needs needs;
  Parameter parameter = {};
  std::string_view list = {};  ///< name of the list it takes: "skips", as in "skips=4:2:1"; empty: none
  bool padded = false;         ///< blocks of different sizes travel as if all had the largest one's
  bool forwards = false;       ///< where ranks know the sizes of their own parts only: they pass blocks of others on
  Block (*blocks)(const Shape&, const Params&);  ///< slots of the input and of the output
  std::int64_t (*rounds)(const Shape&, const Params&);
  std::int64_t (*sent)(const Shape&, const Params&);      ///< blocks, the factor of β
  std::int64_t (*combined)(const Shape&, const Params&);  ///< blocks, the factor of γ
  void (*build)(Builder&, const Shape&, const Params&);
  Parts (*parts)(const Shape&, const Params&) = nullptr;         ///< null: one block for each rank
  std::string (*misfit)(const Shape&, const Params&) = nullptr;  ///< why the parameters do not fit the ranks; or empty
  bool (*at_most)(const Shape&, const Params&) = nullptr;        ///< are rounds, sent and combined bounds? null: never
  const AlgorithmFile* file = nullptr;  ///< its schedules stand there; null: `build` writes them
  const Schedule& (*stored)(const Shape&, Rank, const Params&) = nullptr;  ///< instead of `build`, if it has a file

  std::string_view name() const { return id.substr(id.find('/') + 1); }
};

/// Every algorithm, sorted by id.
std::span<const Algorithm* const> all_algorithms();

/// Null if there is none of that id.
const Algorithm* find_algorithm(std::string_view id);

/// What tells the ranks sizes that not all of them know, before the parts of a gatherv, scatterv, alltoallv or
/// alltoallw travel (ARCHITECTURE.md, "Sizes that only two ranks know"): a count of eight bytes from each rank.
inline constexpr std::string_view gathers_all_sizes = "allgather/bruck";            ///< where all are needed
inline constexpr std::string_view combines_sizes = "allreduce/recursive_doubling";  ///< where one number will do

/// So that an algorithm that has a file gets a number, for statistics; it must never go away. Where there are too many,
/// several share the last number.
void number_algorithm(const Algorithm& algorithm);
/// The numbers are those of all_algorithms(), then of those with files.
std::size_t number_of(const Algorithm& algorithm);
const Algorithm* algorithm_numbered(std::size_t number);  ///< null: there is none
inline constexpr std::size_t most_algorithms = 256;

/// `params` with the default of what they leave open; that of a list "nodes" is Shape::nodes, of "dims" the graph's.
Params resolved(const Algorithm& algorithm, const Shape& shape, Params params);

/// Why `algorithm` cannot be built with such ranks and parameters, in words for the user; empty if it can.
std::string unsuitable(const Algorithm& algorithm, const Shape& shape, const Params& params = {});

/// The same for a call.
std::string unsuitable(const Algorithm& algorithm, Function function, const Shape& shape, bool commutative,
                       const Params& params);

/// One rank's schedule. `shape` must have ranks >= 1 and 0 <= root < ranks, and counts if the algorithm needs them;
/// unsuitable() must have nothing to say.
Schedule build_schedule(const Algorithm& algorithm, const Shape& shape, Rank rank, const Params& params = {});

}  // namespace stretto

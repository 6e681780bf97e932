// SPDX-License-Identifier: BSD-3-Clause
//
// Rules files: which algorithm serves which call.
//
//   stretto-rules 2
//   machine AMD EPYC 9B14, 2 cores, MPICH 5.0.2
//   # function    conditions                          -> algorithm  parameters
//   allreduce     bytes<=2K                           -> recursive_doubling
//   allreduce     operator=commutative ranks=2^k      -> halving_doubling segment=1M depth=2
//   allreduce                                         -> native
//   otherwise
//
// The first rule whose conditions hold and whose algorithm can serve the call decides. Sizes take K, M and G
// (powers of 1024). The machine line (see sources.hpp) came with version 2 and may be missing, and so may the last
// line: with it rules of the next source stand behind these, without it the native library serves what no rule fits.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stretto/algorithm.hpp"

namespace stretto {

/// Some editors begin files with it. Within the text of rules it is an error.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Between the ranks of each node; `fast`, by a measurement in set-up: short messages as well.
enum class KernelCopy : std::uint8_t { refused, permitted, fast };

/// Where Params::copy lets the kernel copy, it copies messages of so many bytes. If all ranks know sizes, the rules say
/// from which on that is faster. In other functions each message decides: where the kernel is not fast, staging is
/// faster up to these sizes (measured where the kernel copies 5 GB/s).
Bytes lends_from(Function function, KernelCopy kernel, bool oversubscribed);

/// What a choice may depend on: values that are equal on all ranks, and nothing else.
struct Call {
  Function function;
  Shape shape;
  Bytes bytes = 0;              ///< the whole vector: all parts together; in a neighbourhood what a rank sends, on
                                ///< average; a size hint, where not all ranks know it
  bool commutative = true;      ///< of reductions
  bool predefined = true;       ///< is the operator one of MPI's own?
  Rank per_node = 1;            ///< the most ranks that share a node's memory
  bool even_nodes = true;       ///< has each node as many?
  bool oversubscribed = false;  ///< has a node of these ranks more of the job's ranks than cores for them?
  std::int64_t to_node = 0;     ///< in a neighbourhood: messages_to_node(); 0: unknown
  KernelCopy kernel_copy = KernelCopy::fast;

  bool one_node() const { return per_node == shape.ranks && shape.ranks > 1; }
};

/// Closed range of numbers.
struct Between {
  std::int64_t low = 0;
  std::int64_t high = INT64_MAX;
  bool holds(std::int64_t n) const { return low <= n && n <= high; }
  bool all() const { return low <= 0 && high == INT64_MAX; }
  bool operator==(const Between&) const = default;
};

/// An algorithm with its parameters.
struct AlgorithmSpec {
  const Algorithm* algorithm = nullptr;  ///< null: the native library, or that of the file
  Params params;
  std::string file = {};  ///< path of the file that gives its schedules; empty: there is none
};

struct Rule {
  Function function;
  Between bytes;
  Between part;  ///< bytes of each rank's part, on average
  Between ranks;
  Between per_node;                      ///< ranks of the fullest node
  Between to_node{};                     ///< of a neighbourhood: messages_to_node()
  std::uint16_t conditions = 0;          ///< those without a number, see conditions_that_hold()
  const Algorithm* algorithm = nullptr;  ///< null: the native library
  Params params;
  int line = 0;

  /// "nodes=1": a condition without a number.
  bool demands(std::string_view condition) const;
  bool operator==(const Rule&) const = default;
};

/// A choice that stands above the rules, where its algorithm can serve the call.
struct Override {
  AlgorithmSpec spec;
  std::string text;  ///< for people: "STRETTO_ALLREDUCE=ring"
};

struct CompactRules;

struct Rules {
  /// A file among several whose rules were joined: the first of them that fits decides.
  struct Part {
    int line;  ///< of the joined text, before the file's first
    std::string file;
    bool says_machine = false;  ///< has it a machine line?
  };
  std::string file;
  std::string machine;        ///< the only one that they are for; empty: any
  int machine_line = 0;       ///< 0: there is none
  bool otherwise = false;     ///< where none fits, those decide that would without this file
  bool says_machine = false;  ///< has the first file a machine line?
  std::vector<Part> parts{};  ///< empty: there is one file
  std::vector<Rule> rules;
  const CompactRules* compiled = nullptr;  ///< rules behind these, as the library has them; null: there are none
  int compiled_behind = 0;                 ///< lines before theirs
  std::vector<std::pair<Function, Override>> from_files = {};  ///< by algorithms that came with the rules

  /// "FILE:LINE", of a rule's line.
  std::string place(int line) const;
  /// Has the file of this line a machine line? Then its rules were measured.
  bool measured(int line) const;
};

/// Do binary blocks of ranks differ so little in size that reducing them one into the other pays? Where the exponents
/// of two in `ranks` are at most δ apart: δ < lg(bytes) / 2 - 2.5 (Thakur, Rabenseifner and Gropp 2005, section 5.4).
bool blocks_balanced(Rank ranks, Bytes bytes);

/// Throws stretto::Error that names `file` and the line.
Rules parse_rules(std::string_view text, std::string_view file);
Rules read_rules(const std::string& path);

/// The rules that are part of the library (rules/make): measured ones for one node, the model's for several.
const Rules& shipped_rules();
extern const std::string_view shipped_rules_text;  ///< of rules/default.rules, word for word

/// Of the text of rules, never 0: the same in every build, so that ranks can compare what they have. FNV-1a.
std::uint64_t digest_of_rules(std::string_view text);
extern const std::uint64_t shipped_digest;  ///< of the text that the shipped rules are made of

/// "64K", "2M", "100" to bytes.
std::optional<Bytes> parse_size(std::string_view text);

/// The other way: as large a unit as divides it.
std::string written_size(Bytes size);

/// What was chosen for a call, and why.
struct Choice {
  const Algorithm* algorithm = nullptr;  ///< null: the native library
  Params params;
  std::string reason;  ///< for people: the source that decided, and what it passed over
  int line = 0;        ///< of the rule that decided; 0: an override did, or no rule fits
};

/// `value` as the user writes it: "ring", "ring,segment=64K,depth=4", "kring,group=2", "native" or
/// "file:ring.stretto", which is not read. Throws stretto::Error.
AlgorithmSpec parse_algorithm_spec(Function function, std::string_view value);

/// The algorithm of the first override (null: none) that can be granted, else of the first rule that fits.
Choice choose(std::span<const Override* const> overrides, const Rules& rules, const Call& call);
inline Choice choose(const Rules& rules, const Call& call) { return choose({}, rules, call); }

/// Of calls that differ from one in their bytes alone.
struct OtherSizes {
  bool differ = false;  ///< the choice depends on the bytes
  bool native = false;  ///< and may be the native function
};
OtherSizes other_sizes(std::span<const Override* const> overrides, const Rules& rules, const Call& call);

/// The numbers of bytes, with those of `call` among them, for which the rules choose alike if nothing else changes.
Between chosen_alike(const Rules& rules, const Call& call);

/// "staged", "kernel" or "measured": the value of copy= in a rule.
std::string_view name_of(Copy copy);

/// "ring segment=64K depth=4": an algorithm and parameters as they stand in a rule. Null is the native library.
std::string written(const Algorithm* algorithm, const Params& params);

}  // namespace stretto

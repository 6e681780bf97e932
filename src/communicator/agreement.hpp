// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks of a communicator must choose alike, or they would wait for messages that never come: their variables must
// be the same, and one rank reads the rules for all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpi/bootstrap.hpp"
#include "stretto/rules.hpp"

namespace stretto::mpi {

/// What a rank brings to an agreement. Copied as bytes.
struct Terms {
  std::int64_t variables = 0;  ///< a digest of those that must be the same
  std::int64_t rules = 0;      ///< of rank 0, which reads them if it has none yet: their digest
  std::int64_t node = 0;       ///< not negative, equal on ranks that may share memory
  std::uint8_t files = 0;      ///< that it writes
  bool threads = false;        ///< MPI_THREAD_MULTIPLE, which the ranks of a job need not have in common
  bool faults = false;         ///< failed processes are survived
  bool own_thread = false;     ///< Stretto's own thread may call the MPI
  bool gpu = false;            ///< buffers may be in the memory of a GPU

  /// Of this process, `rank` of the communicator.
  static Terms own(Rank rank);
};

struct Agreement {
  bool usable = false;              ///< else: the ranks have different variables, or messages do not arrive
  bool same_variables = true;       ///< only if not usable
  std::optional<bool> same_files;   ///< do all ranks want the same of profile and trace? Nothing: it was not found out
  std::int64_t digest = 0;          ///< of rank 0's rules
  const Rules* rules = nullptr;     ///< those; null, on some ranks: not known here yet
  std::vector<std::int64_t> nodes;  ///< of each rank; empty: they have not told each other
  bool one_node = false;            ///< have all ranks the same node?
  bool threads = false;             ///< on any rank
  bool all_threads = false;         ///< on all of them
  bool faults = false;              ///< likewise
  bool own_thread = false;          ///< on all ranks
  bool gpu = false;                 ///< on any rank
};

/// `wanted`, or a later one that this process has proposed for no other communicator. Where all ranks propose the same
/// one, it is agreed on.
std::uint32_t propose_number(std::uint32_t wanted = 0);

/// A number that no other communicator of any of these processes has, for as long as they live. The same on all ranks;
/// nothing: it could not be agreed on.
std::optional<std::uint32_t> agree_on_number(Bootstrap& bootstrap);

/// Of all ranks. It is usable when each has come so far, and has the rules: see settle().
Agreement combined(std::span<const Terms> all);

/// Makes `all`, which each rank has combined by itself, usable where all of them have: `all_came`. If not all have the
/// rules, these come from rank 0. The same on all ranks.
Agreement settle(Bootstrap& bootstrap, Agreement all, bool all_came, bool rules_known);

/// All of this for any number of ranks. The same on all of them.
Agreement agree(Bootstrap& bootstrap, const Terms& mine);

/// The rules that this process agreed on last, or reads now: for a communicator of one rank.
const Rules& own_rules();

}  // namespace stretto::mpi

// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks of a communicator must choose alike, or they would wait for messages that never come: their variables must
// be the same, and one rank reads the rules for all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "mpi/bootstrap.hpp"
#include "stretto/rules.hpp"

namespace stretto::mpi {

/// What a rank brings to an agreement and, combined, what comes out of it.
struct Terms {
  std::int64_t node = 0;    ///< not negative, equal on ranks that may share memory
  bool threads = false;     ///< MPI_THREAD_MULTIPLE, which the ranks of a job need not have in common
  bool faults = false;      ///< failed processes are survived
  bool own_thread = false;  ///< Stretto's own thread may call the MPI
};

struct Agreement {
  bool usable = false;             ///< else: the ranks have different variables, or messages do not arrive
  bool same_variables = true;      ///< only if not usable
  std::optional<bool> same_files;  ///< do all ranks want the same of profile and trace? Nothing: it was not found out
  const Rules* rules = nullptr;    ///< those of rank 0, which reads them if it has none yet
  bool one_node = false;           ///< have all ranks the same node?
  bool threads = false;            ///< on any rank
  bool faults = false;             ///< likewise
  bool own_thread = false;         ///< on all ranks
};

/// One that this process has proposed for no other communicator. Where all ranks propose the same one, it is agreed on.
std::uint32_t propose_number();

/// Of what the ranks propose. Only if Bootstrap::agreed() then.
std::array<std::int64_t, 2> least_and_most(Bootstrap& bootstrap, std::int64_t mine);

/// A number that no other communicator of any of these processes has, for as long as they live. The same on all ranks;
/// nothing: it could not be agreed on.
std::optional<std::uint32_t> agree_on_number(Bootstrap& bootstrap);

/// The same on all ranks.
Agreement agree(Bootstrap& bootstrap, const Terms& mine);

/// The rules that this process agreed on last, or reads now: for a communicator of one rank.
const Rules& own_rules();

}  // namespace stretto::mpi

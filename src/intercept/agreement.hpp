// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks of a communicator must choose alike, or they would wait for messages that never come: their variables must
// be the same, and one rank reads the rules for all.
#pragma once

#include "intercept/mpi_header.hpp"
#include "stretto/rules.hpp"

namespace stretto::intercept {

/// The rules for `comm`: those that all its ranks have, else those of its rank 0, which reads them if it has none yet.
/// Null if the ranks have different variables. Collective over `comm`, with the native library's functions.
const Rules* agree(MPI_Comm comm, Rank rank);

/// The rules that this process agreed on last, or reads now: for a communicator of one rank.
const Rules& own_rules();

}  // namespace stretto::intercept

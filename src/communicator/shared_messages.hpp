// SPDX-License-Identifier: BSD-3-Clause
//
// Where threads of the program must not make communicators at once (Open MPI), Stretto makes none after MPI_Init: the
// messages of all communicators travel on one of MPI_COMM_WORLD's ranks, and each has its own part of the tags.
#pragma once

#include <optional>

#include "mpi/bootstrap.hpp"

namespace stretto::mpi {

/// From now on `comm` may be shared, of which the communicator that it was made for has the part `first_tags`.
void share_messages(MPI_Comm comm);
inline constexpr int first_tags = 0;
MPI_Comm shared_messages();

/// A part of the tags that no other communicator of any of these processes has; the same on all ranks. Nothing: there
/// is none left, or nothing to share, or `may_share` is false on some rank.
std::optional<int> agree_on_tags(Bootstrap& bootstrap, bool may_share);
/// After the last message.
void return_tags(int part);

}  // namespace stretto::mpi

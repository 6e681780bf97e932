// SPDX-License-Identifier: BSD-3-Clause
//
// How ranks learn the sizes of blocks that only others were told: before the blocks themselves travel.
#pragma once

#include "prepare/common.hpp"

namespace stretto::intercept {

/// The sizes of what stands in scratch, slot by slot.
struct ScratchSizes {
  int code = MPI_SUCCESS;
  std::span<const Count> bytes;

  execute::Layout layout(Count segment) const { return execute::Layout::irregular(bytes, bytes, segment); }
};

/// Runs the call's own schedule on the sizes of its blocks: every size arrives where its block will. `mine` are the
/// sizes of the blocks in my input, from slot `first` on.
ScratchSizes tell_sizes_along(Communicator& c, const Schedule& schedule, Function function, std::span<const Count> mine,
                              Block first);

/// What every rank said, of all ranks: the sizes of their parts, or nothing if an error came back.
struct AllSizes {
  int code = MPI_SUCCESS;
  std::span<const Count> bytes;
};
AllSizes gather_sizes(Communicator& c, Function function, Bytes mine);

/// Adds the bytes of late to `call`, if that is chosen by them, and to its origin (null: it has none) who keeps them.
/// `mine`: what I know of this call, the whole vector on one rank only or, in an alltoall, what each sends.
int add_recent_bytes(Communicator& c, Call& call, Bytes mine, Origin* origin);

/// The largest of what the ranks said.
int largest_of_all(Communicator& c, Function function, Bytes& size);

}  // namespace stretto::intercept

// SPDX-License-Identifier: BSD-3-Clause
//
// What each collective means: where the blocks are before it and what must stand where after it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "stretto/schedule.hpp"

namespace stretto {

enum class Collective : std::uint8_t { barrier, bcast, reduce, allreduce, allgather, reduce_scatter_block };

inline constexpr Collective all_collectives[] = {Collective::barrier,   Collective::bcast,
                                                 Collective::reduce,    Collective::allreduce,
                                                 Collective::allgather, Collective::reduce_scatter_block};

struct CollectiveFacts {
  std::string_view name;  ///< "allreduce"
  bool rooted;
  bool reduces;   ///< combines contributions with an operator
  bool per_rank;  ///< the vector has one block per rank, given by the call; else the algorithm cuts it
};

const CollectiveFacts& facts(Collective collective);
std::optional<Collective> collective_named(std::string_view name);

/// Ranks and root of a call.
struct Shape {
  Rank ranks = 1;
  Rank root = 0;
};

/// What stands in one slot: nothing, the contribution of one rank, or the reduction of all ranks' contributions.
struct Content {
  enum class Kind : std::uint8_t { nothing, contribution, reduction } kind = Kind::nothing;
  Rank from = no_rank;  ///< of a contribution
};

/// Does the call give `rank` slot `block` of `buffer`? (A non-root of a reduce has no output, and so on.)
bool slot_exists(Collective collective, const Shape& shape, Rank rank, Buffer buffer, Block block);

/// Precondition: the content of slot `block` of `buffer` on `rank` when the collective begins.
Content content_before(Collective collective, const Shape& shape, Rank rank, Buffer buffer, Block block);

/// Postcondition: the content that slot `block` of the output of `rank` must have in the end (nothing: no demand).
Content content_after(Collective collective, const Shape& shape, Rank rank, Block block);

/// May rank's input be its output (MPI_IN_PLACE)? Slot b of the one is then slot b of the other.
bool may_alias(Collective collective);

}  // namespace stretto

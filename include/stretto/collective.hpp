// SPDX-License-Identifier: BSD-3-Clause
//
// What each collective means: where the blocks are before it and what must stand where after it.
#pragma once

#include <optional>
#include <string_view>

#include "stretto/graph.hpp"
#include "stretto/schedule.hpp"

namespace stretto {

/// What is to be achieved, whatever the sizes of the blocks: several MPI functions may ask for it (function.hpp).
enum class Collective : std::uint8_t {
#define COLLECTIVE(name, ...) name,
#include "stretto/collectives.def"
#undef COLLECTIVE
};

inline constexpr Collective all_collectives[] = {
#define COLLECTIVE(name, ...) Collective::name,
#include "stretto/collectives.def"
#undef COLLECTIVE
};

struct CollectiveFacts {
  std::string_view name;  ///< "allreduce"
  bool rooted;
  bool reduces;                           ///< combines contributions with an operator
  bool parts_in, parts_out;               ///< the input, the output has a part for each rank, given by the call
  bool prefix;                            ///< a rank's result is made of what the ranks up to it gave
  bool neighbourhood;                     ///< the parts are those of neighbours in a graph, not of all ranks
  bool per_rank = parts_in || parts_out;  ///< else the algorithm cuts the vector
  bool pairwise = parts_in && parts_out;  ///< a block belongs to a pair of ranks
};

const CollectiveFacts& facts(Collective collective);
std::optional<Collective> collective_named(std::string_view name);

/// Ranks and root of a call and, for algorithms that go by them, the sizes of the ranks' parts and where the ranks are.
struct Shape {
  Rank ranks = 1;
  Rank root = 0;
  std::vector<Count> counts = {};  ///< of each rank's part: elements, bytes where nothing is combined; empty: not given
  /// Levels x ranks: the node of each rank, by any numbers; then, for each further level, the group (switch) of each
  /// rank's node. Empty: unknown.
  std::vector<Rank> nodes = {};
  std::shared_ptr<const Graph> graph = {};  ///< of a neighbourhood collective; null: default_graph()
  std::vector<Rank> cores = {};  ///< on one node, of each rank: alike for those bound to the same cores; empty: unknown
  bool operator==(const Shape&) const = default;
};

/// The graph of `shape`, which has so many ranks.
std::shared_ptr<const Graph> graph_of(const Shape& shape);

/// What stands in one slot: nothing, the contribution of one rank, or the reduction of contributions in rank order.
struct Content {
  enum class Kind : std::uint8_t { nothing, contribution, reduction } kind = Kind::nothing;
  Rank from = no_rank;  ///< of a contribution; the first rank of a reduction
  Rank to = no_rank;    ///< the last rank of a reduction
};

/// Which block does slot `slot` of the input or output of `rank` hold? In an alltoall block s·p + d goes from rank s
/// to rank d, slot d of the input and slot s of the output. In a neighbourhood slots are those of neighbours: block
/// s·slots + k is the k-th part that rank s sends or, where it sends all the same, block s. Else block b lies in slot
/// b.
Block block_of(Collective collective, const Shape& shape, Rank rank, Buffer buffer, Block slot);

/// Does the call give `rank` slot `slot` of `buffer`? (A non-root of a reduce has no output, and so on.)
bool slot_exists(Collective collective, const Shape& shape, const Parts& parts, Rank rank, Buffer buffer, Block slot);

/// Precondition: the content of slot `slot` of `buffer` on `rank` when the collective begins.
Content content_before(Collective collective, const Shape& shape, const Parts& parts, Rank rank, Buffer buffer,
                       Block slot);

/// Postcondition: the content that slot `slot` of the output of `rank` must have in the end (nothing: no demand).
Content content_after(Collective collective, const Shape& shape, const Parts& parts, Rank rank, Block slot);

/// May rank's input be its output (MPI_IN_PLACE)? Slot b of the one is then slot b of the other.
bool may_alias(Collective collective);

}  // namespace stretto

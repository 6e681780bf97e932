// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/collective.hpp"

namespace stretto {
namespace {

constexpr CollectiveFacts table[] = {
    {.name = "barrier", .rooted = false, .reduces = false, .per_rank = false},
    {.name = "bcast", .rooted = true, .reduces = false, .per_rank = false},
    {.name = "reduce", .rooted = true, .reduces = true, .per_rank = false},
    {.name = "allreduce", .rooted = false, .reduces = true, .per_rank = false},
    {.name = "allgather", .rooted = false, .reduces = false, .per_rank = true},
    {.name = "reduce_scatter_block", .rooted = false, .reduces = true, .per_rank = true},
};
static_assert(std::size(table) == std::size(all_collectives));

constexpr Content nothing{};
constexpr Content reduction{.kind = Content::Kind::reduction};
constexpr Content contribution(Rank from) { return {.kind = Content::Kind::contribution, .from = from}; }

}  // namespace

const CollectiveFacts& facts(Collective collective) { return table[static_cast<std::size_t>(collective)]; }

std::optional<Collective> collective_named(std::string_view name) {
  for (Collective c : all_collectives)
    if (facts(c).name == name) return c;
  return std::nullopt;
}

bool slot_exists(Collective collective, const Shape& shape, Rank rank, Buffer buffer, Block block) {
  if (buffer == Buffer::scratch) return true;
  const bool is_input = buffer == Buffer::input;
  switch (collective) {
    case Collective::barrier: return false;
    case Collective::bcast: return !is_input;
    case Collective::reduce: return is_input || rank == shape.root;
    case Collective::allreduce: return true;
    case Collective::allgather: return !is_input || block == rank;
    case Collective::reduce_scatter_block: return is_input || block == rank;
  }
  return false;
}

Content content_before(Collective collective, const Shape& shape, Rank rank, Buffer buffer, Block block) {
  if (buffer == Buffer::scratch || !slot_exists(collective, shape, rank, buffer, block)) return nothing;
  if (collective == Collective::bcast) return rank == shape.root ? contribution(rank) : nothing;
  return buffer == Buffer::input ? contribution(rank) : nothing;
}

Content content_after(Collective collective, const Shape& shape, Rank rank, Block block) {
  if (!slot_exists(collective, shape, rank, Buffer::output, block)) return nothing;
  switch (collective) {
    case Collective::barrier: return nothing;
    case Collective::bcast: return contribution(shape.root);
    case Collective::allgather: return contribution(static_cast<Rank>(block));
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::reduce_scatter_block: return reduction;
  }
  return nothing;
}

bool may_alias(Collective collective) {
  // A broadcast has one buffer, and a barrier none.
  return collective != Collective::barrier && collective != Collective::bcast;
}

}  // namespace stretto

// SPDX-License-Identifier: BSD-3-Clause
#include "stretto/collective.hpp"

#include <algorithm>

#include "stretto/function.hpp"

namespace stretto {
namespace {

constexpr CollectiveFacts collective_table[] = {
#define COLLECTIVE(name, ...) {#name, __VA_ARGS__},
#include "stretto/collectives.def"
#undef COLLECTIVE
};

constexpr FunctionFacts function_table[] = {
#define STRETTO_FACTS(with, function, in_mpi, collective, sizes) \
  {#function, "MPI_" #in_mpi, Collective::collective, PartSizes::sizes},
    STRETTO_FUNCTIONS(STRETTO_FACTS, )
#undef STRETTO_FACTS
};

constexpr Content nothing{};
constexpr Content reduction(Rank first, Rank last) {
  return {.kind = Content::Kind::reduction, .from = first, .to = last};
}
constexpr Content contribution(Rank from) { return {.kind = Content::Kind::contribution, .from = from}; }

bool neighbour_exists(Collective collective, const Shape& shape, Rank rank, Buffer buffer, Block slot) {
  const auto graph = graph_of(shape);
  const bool is_input = buffer == Buffer::input;
  if (is_input && !facts(collective).parts_in) return slot == 0;
  const std::vector<Rank>& near = is_input ? graph->of(rank).destinations : graph->of(rank).sources;
  const auto i = static_cast<std::size_t>(slot);
  return i < near.size() && near[i] != no_rank;
}

}  // namespace

Rank Parts::owner(Block block) const {
  if (first.empty()) return static_cast<Rank>(block);
  return static_cast<Rank>(std::upper_bound(first.begin(), first.end(), block) - first.begin()) - 1;
}

const CollectiveFacts& facts(Collective collective) { return collective_table[static_cast<std::size_t>(collective)]; }

std::optional<Collective> collective_named(std::string_view name) {
  for (Collective c : all_collectives)
    if (facts(c).name == name) return c;
  return std::nullopt;
}

const FunctionFacts& facts(Function function) { return function_table[static_cast<std::size_t>(function)]; }

std::optional<Function> function_named(std::string_view name) {
  for (Function f : all_functions)
    if (facts(f).name == name) return f;
  return std::nullopt;
}

std::shared_ptr<const Graph> graph_of(const Shape& shape) {
  return shape.graph ? shape.graph : default_graph(shape.ranks);
}

Block block_of(Collective collective, const Shape& shape, Rank rank, Buffer buffer, Block slot) {
  if (facts(collective).neighbourhood && buffer != Buffer::scratch) {
    const auto graph = graph_of(shape);
    const Graph::Part part = buffer == Buffer::input ? Graph::Part{rank, slot} : graph->source(rank, slot);
    return facts(collective).pairwise ? part.rank * graph->slots() + part.slot : Block{part.rank};
  }
  if (!facts(collective).pairwise || buffer == Buffer::scratch) return slot;
  return buffer == Buffer::input ? Block{rank} * shape.ranks + slot : slot * shape.ranks + rank;
}

bool slot_exists(Collective collective, const Shape& shape, const Parts& parts, Rank rank, Buffer buffer, Block slot) {
  if (buffer == Buffer::scratch) return true;
  const bool is_input = buffer == Buffer::input;
  const auto mine = [&] { return parts.owner(slot) == rank; };
  switch (collective) {
    case Collective::barrier: return false;
    case Collective::bcast: return !is_input;
    case Collective::gather: return is_input ? mine() : rank == shape.root;
    case Collective::scatter: return is_input ? rank == shape.root : mine();
    case Collective::allgather: return !is_input || mine();
    case Collective::reduce: return is_input || rank == shape.root;
    case Collective::reduce_scatter: return is_input || mine();
    case Collective::exscan: return is_input || rank > 0;
    case Collective::alltoall:
    case Collective::allreduce:
    case Collective::scan: return true;
    case Collective::neighbor_allgather:
    case Collective::neighbor_alltoall: return neighbour_exists(collective, shape, rank, buffer, slot);
  }
  return false;
}

Content content_before(Collective collective, const Shape& shape, const Parts& parts, Rank rank, Buffer buffer,
                       Block slot) {
  if (buffer == Buffer::scratch || !slot_exists(collective, shape, parts, rank, buffer, slot)) return nothing;
  if (collective == Collective::bcast) return rank == shape.root ? contribution(rank) : nothing;
  return buffer == Buffer::input ? contribution(rank) : nothing;
}

Content content_after(Collective collective, const Shape& shape, const Parts& parts, Rank rank, Block slot) {
  if (!slot_exists(collective, shape, parts, rank, Buffer::output, slot)) return nothing;
  switch (collective) {
    case Collective::barrier: return nothing;
    case Collective::bcast:
    case Collective::scatter: return contribution(shape.root);
    case Collective::gather:
    case Collective::allgather: return contribution(parts.owner(slot));
    case Collective::alltoall: return contribution(static_cast<Rank>(slot));
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::reduce_scatter: return reduction(0, shape.ranks - 1);
    case Collective::scan: return reduction(0, rank);
    case Collective::exscan: return reduction(0, rank - 1);
    case Collective::neighbor_allgather:
    case Collective::neighbor_alltoall: return contribution(graph_of(shape)->source(rank, slot).rank);
  }
  return nothing;
}

bool may_alias(Collective collective) {
  // A broadcast has one buffer, and a barrier none. In an alltoall block b of the one buffer is not block b of the
  // other: in place it begins with a copy of the input. In a neighbourhood MPI has no such form.
  return collective != Collective::barrier && collective != Collective::bcast && collective != Collective::alltoall &&
         !facts(collective).neighbourhood;
}

}  // namespace stretto
